"""Blocked threads are read from outside, and never another stack than theirs."""

import live
import live_dump
import processes
from live_dump import is_resting, names

OURS = ("plain", "with_alloca", "wait_here")
LEVELS = [f"level_{i}" for i in range(8)]
READS = 100000 if live.IS_LONG else 2000

# The dump comes to the ring when a busy thread has had a quarter of a second for some more copies.
SLOW_POLL = """
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>
int poll(struct pollfd *of, nfds_t count, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
	(void)timeout;
	const int rc = real(of, count, 60000);
	usleep(250000);
	return rc;
}
"""


class Blocked(live_dump.DumpTest):
    def assert_stacks_known(self, run, dump):
        truth = live.truth_of(run.first_line)["threads"]
        threads = {str(thread["inner_tid"]): thread for thread in dump["threads"]}
        for tid, known in truth.items():
            with self.subTest(known):
                frames = [name for name in names(threads[tid]) if name in OURS]
                self.assertEqual(threads[tid]["ending"], "complete", threads[tid])
                self.assertEqual(list(reversed(frames)), known["functions"])

    def test_every_thread_has_the_stack_it_knows(self):
        run = self.start(live.workload("blocked", "still", 60))
        self.assert_stacks_known(run, self.dump_until(run.pid, is_resting, "its threads never all rest"))

    def test_with_frame_pointers_without_optimization_and_statically_linked(self):
        for flags in (["-O0"], ["-O2", "-fno-omit-frame-pointer"], ["-O0", "-static"], ["-O2", "-static-pie"],
                      ["-O2", "-fno-plt", "-fcf-protection"]):
            with self.subTest(flags):
                run = self.start([self.compile("-".join(flags), "blocked.c", *flags), "still", "26"])
                self.assert_stacks_known(run, self.dump_until(run.pid, is_resting, "its threads never all rest"))

    def test_of_two_hundred_threads_each_is_there(self):
        run = self.start(live.workload("blocked", "still", 200))
        dump = self.dump_until(run.pid, is_resting, "its threads never all rest")
        self.assertEqual(len(dump["threads"]), 201)
        self.assert_stacks_known(run, dump)

    def test_threads_that_wake_are_read_whole_or_not_believed(self):
        run = self.start(live.workload("blocked", "churn", 20))
        reads = 0
        while reads < READS:
            for thread in self.dump(run.pid)["threads"]:
                functions = [name for name in names(thread) if name in LEVELS]
                if thread["trust"] != "consistent" or thread["tid"] == run.pid:
                    continue
                reads += 1
                self.assertEqual(list(reversed(functions)), LEVELS[:len(functions)], thread)
                self.assertEqual(thread["ending"], "complete", thread)

    def test_threads_that_run_have_the_stack_that_the_kernel_copied(self):
        run = self.start(live.workload("blocked", "busy", 3))
        order = list(live.truth_of(run.first_line)["threads"])
        seen = set()

        def look():
            for thread in self.dump(run.pid)["threads"]:
                if thread["trust"] == "copied":
                    k = order.index(str(thread["inner_tid"]))
                    functions = [name for name in names(thread) if name in LEVELS + ["burn_here"]]
                    self.assertEqual(list(reversed(functions)), LEVELS[:k + 1] + ["burn_here"], thread)
                    self.assertEqual(thread["ending"], "complete", thread)
                    seen.add(k)
                elif thread["trust"] == "unread" and "perf_event_paranoid" in thread["why_unread"]:
                    self.skipTest("this user may open no sampling events here")
            return len(seen) == 3
        processes.wait_until(look, 120, "the three threads are never copied")

    def test_one_that_fills_the_ring_before_it_is_read(self):
        """As happens where the dump has to wait for a processor itself: the first copy stands."""
        slow = self.write("slow.c", SLOW_POLL)
        library = self.compile("slow.so", slow, "-shared", "-fPIC", "-D_GNU_SOURCE")
        run = self.start(live.workload("blocked", "busy", 1))
        dump = self.dump(run.pid, variables={"LD_PRELOAD": library})
        (thread,) = [thread for thread in dump["threads"] if thread["tid"] != run.pid]
        if thread["trust"] == "unread" and "perf_event_paranoid" in thread["why_unread"]:
            self.skipTest("this user may open no sampling events here")
        self.assertEqual((thread["trust"], thread["ending"]), ("copied", "complete"), thread)


if __name__ == "__main__":
    live.main()
