"""System time of an ordinary user, whose events do not count it: by system call, as far as ticks show."""

import live
from live_programs import ProgramsTest

NOT_SAMPLED = "[kernel time not sampled]"
# Ticks come 250 times a second: of 4 s, 20 % is known to 6.3 points at five standard errors, and their
# part of the time is bounded by what events leave.
ALLOWED = 0.065
CALLS = {"in_read": ("read", "__libc_read"), "in_random": ("getrandom", "__getrandom")}

# For half a second of CPU time, in calls of about a millisecond.
READS = """
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	const int zero = open("/dev/zero", O_RDONLY);
	const size_t len = 16 << 20;
	char *room = malloc(len);
	struct timespec now = { 0 };
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 500) {
		if (read(zero, room, len) != (ssize_t)len)
			return 1;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	}
	return 0;
}
"""


class KernelTicks(ProgramsTest):

    compares_times = True

    def record_parts(self, *arguments, options=(), rate=1000):
        recording = self.record_as_user([self.build("parts", "parts.c"), *map(str, arguments)], *options, rate=rate)
        if "system time" not in recording.head()["trigger_why"]:
            self.skipTest("this machine lets ordinary users count system time, or no time at all: "
                          + recording.head()["trigger_why"])
        return recording

    def shares(self, recording):
        """{part: what is true}, of all that was charged."""
        truth = recording.truth
        return {name: truth[name] / (recording.head()["kernel_cpu_ns"] / 1e9)
                for name in ("in_read", "in_random", "in_faults", "in_user")}

    def share_of(self, recording, name, field="self_ns"):
        return recording.time_of(name, field) / recording.head()["kernel_cpu_ns"]

    def test_system_calls_have_their_time(self):
        for rate in live.in_turn((1000, 10000), 0):
            with self.subTest(rate=rate):
                recording = self.record_parts(50, rate=rate)
                true = self.shares(recording)
                for part, names in CALLS.items():
                    measured = self.share_of(recording, part, "total_ns")
                    self.assert_share(measured, true[part], ALLOWED, part)
                    # The leaf is libc's function: the call that the tick was in.
                    self.assertGreater(sum(self.share_of(recording, name) for name in names), 0.8 * measured)
                self.assert_share(self.share_of(recording, "in_user"), true["in_user"], ALLOWED, "in_user")
                # Page faults are no system calls: no call has their time.
                self.assert_share(self.share_of(recording, "in_faults", "total_ns")
                                  + self.share_of(recording, NOT_SAMPLED), true["in_faults"], ALLOWED, "in_faults")
                self.assertGreater(self.share_of(recording, NOT_SAMPLED), 0.02)
                self.assert_adds_up(recording)
                self.assert_explained(recording)
                self.assert_whole_stacks(recording)

    def test_a_program_that_hardly_leaves_its_system_calls(self):
        """No trap of its event comes, or late: the first thread has its timer from the beginning."""
        program = self.build_text("reads", READS, "-O2")
        recording = self.record_as_user([program], rate=1000)
        if "system time" not in recording.head()["trigger_why"]:
            self.skipTest(recording.head()["trigger_why"])
        self.assertGreater(sum(self.share_of(recording, name, "total_ns") for name in CALLS["in_read"]), 0.85)
        self.assert_adds_up(recording)
        self.assert_explained(recording, slack_ns=2_000_000)

    def test_sigtrap_alone_has_one_row_for_it(self):
        recording = self.record_parts(30, options=("--trigger", "sigtrap"))
        true = self.shares(recording)
        self.assertGreater(self.share_of(recording, NOT_SAMPLED), true["in_read"] + true["in_random"] - 0.05)
        self.assertEqual(recording.truth["timers"], 0)
        self.assertIn("system time is not sampled", recording.head()["trigger_why"])

    def test_threads_take_their_timers_along_and_forks_end(self):
        recording = self.record_parts(10, 5, "fork")
        # The first thread has one, or none of it has been worth one.
        self.assertLessEqual(recording.truth["timers"], 1)


if __name__ == "__main__":
    live.main()
