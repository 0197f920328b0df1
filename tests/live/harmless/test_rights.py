"""A recording holds nothing that its program could not read, and no names that others made up."""

import glob
import os
import shutil
import stat
import subprocess
import unittest

import live
from live import WORKLOADS, workload

SECRET = b"what only the recorder may read\n" * 100
FOREIGN = "belongs to another user than the process"
STALE = "is older than the process"


# Gives CAP_PERFMON up and executes a command, which as root's has it again.
GAINS = """
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];
	int status = 0;

	if (syscall(SYS_capget, &head, data) < 0)
		return 77;
	data[CAP_TO_INDEX(CAP_PERFMON)].permitted &= ~CAP_TO_MASK(CAP_PERFMON);
	data[CAP_TO_INDEX(CAP_PERFMON)].effective &= ~CAP_TO_MASK(CAP_PERFMON);
	if (syscall(SYS_capset, &head, data) < 0)
		return 77;
	if (fork() == 0)
		_exit(execvp(argv[1], argv + 1));
	wait(&status);
	return argc > 1 ? WEXITSTATUS(status) : 1;
}
"""
BURNS = """
import time
def burn():
    end = time.process_time() + 1
    while time.process_time() < end:
        pass
burn()
"""


class Rights(live.LiveTest):

    @unittest.skipIf(os.geteuid() != 0, "only root's programs gain capabilities by exec")
    def test_a_program_that_gains_capabilities_is_in_the_cpu_time(self):
        source = self.write("gains.c", GAINS)
        subprocess.run([self.need("gcc"), "-w", source, "-o", self.path("gains")], check=True, timeout=300)
        recording = self.record([self.path("gains"), *workload("thirds", 300)], rate=1000, expect=None)
        if recording.run.returncode == 77:
            self.skipTest("this container's root has no CAP_PERFMON")
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
        self.assertGreater(recording.time_of("f", "total_ns"), 0.2 * recording.total_ns())
        self.assert_adds_up(recording)
        self.assert_explained(recording, within=0.1, slack_ns=20000000)
        self.assertIn("gained capabilities", " ".join(recording.head()["notes"]))

    @unittest.skipIf(os.geteuid() != 0, "only root's programs gain capabilities by exec")
    def test_python_that_it_loads_later_has_its_functions(self):
        """No event reports what is mapped: the agent's question has the recorder look."""
        library = glob.glob("/usr/lib/*/libpython3.11.so.1.0") or self.skipTest("libpython3.11 is not installed")
        source = self.write("gains.c", GAINS)
        subprocess.run([self.need("gcc"), "-w", source, "-o", self.path("gains")], check=True, timeout=300)
        recording = self.record([self.path("gains"), *workload("embeds", library[0], BURNS)], rate=1000, expect=None)
        if recording.run.returncode == 77:
            self.skipTest("this container's root has no CAP_PERFMON")
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
        self.assertGreater(recording.time_of("burn", "total_ns"), 0.3 * recording.total_ns())

    @unittest.skipIf(os.geteuid() != 0, "only root samples set-user-ID programs")
    def test_a_set_user_id_program_has_names(self):
        program = shutil.copy(workload("thirds")[0], self.path("thirds"))
        os.chown(program, live.ORDINARY_USER, live.ORDINARY_USER)
        os.chmod(program, 0o4755)
        recording = self.record(["sh", "-c", f"{program} 600; exit 0"], rate=1000)
        if recording.head()["trigger"] != "sigtrap":
            self.skipTest(f"no events: {recording.head()['trigger_why']}")
        self.assertGreater(recording.time_of("f", "total_ns"), 0.15 * recording.total_ns(), recording.head())

    def bytes_of(self, recording):
        with open(recording.path, "rb") as file:
            return file.read()

    def secret(self):
        path = self.path("secret")
        with open(path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(SECRET)
        return path

    @unittest.skipIf(os.geteuid() != 0, "only root has files that a program with fewer rights has not")
    def test_a_link_where_a_mapped_file_was_is_not_copied(self):
        library = self.path("mine/libfirst.so")
        os.mkdir(self.path("mine"))
        os.chmod(self.path("mine"), 0o777)
        shutil.copy(os.path.join(WORKLOADS, "libfirst.so"), library)
        recording = self.record(workload("swapping", library, "first_work", self.secret()), rate=1000)
        self.assertFalse(SECRET[:32] in self.bytes_of(recording),
                         "what only root may read is in the recording")
        # The file that was mapped was gone, too: as root, it is read through the process.
        self.assertGreater(recording.time_of("first_work", "self_ns"), 0.8 * recording.total_ns())

    def test_a_recording_is_its_owners_alone(self):
        for mask in (0o000, 0o277, 0o777):
            with self.subTest(mask=oct(mask)):
                recording = self.record(["true"], umask=mask)
                self.assertEqual(stat.S_IMODE(os.stat(recording.path).st_mode), 0o600)
                os.unlink(recording.path)

    def generated(self, kind):
        recording = self.record(workload("generated", kind), rate=1000)
        self.addCleanup(os.unlink, recording.run.stdout.decode().strip())
        share = recording.time_of("generated_loop", "self_ns") / recording.total_ns()
        return share, recording.head()["notes"]

    def test_a_perf_map_of_the_process_names_its_code(self):
        share, notes = self.generated("own")
        self.assertGreater(share, 0.8)
        self.assertFalse([note for note in notes if "perf-PID.map" in note])

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_a_perf_map_of_another_user_names_nothing(self):
        share, notes = self.generated("foreign")
        self.assertEqual(share, 0)
        self.assertEqual(len([note for note in notes if FOREIGN in note]), 1, notes)

    def test_a_perf_map_of_long_ago_names_nothing(self):
        share, notes = self.generated("stale")
        self.assertEqual(share, 0)
        self.assertEqual(len([note for note in notes if STALE in note]), 1, notes)

    def test_a_perf_map_of_an_earlier_program_of_that_process_id_names_nothing(self):
        program = " ".join(workload("generated", "none"))
        # Files are dated by a clock of 100 Hz.
        script = f"echo 0 ffffffffffffffff made_before > /tmp/perf-$$.map; sleep 0.2; exec {program}"
        recording = self.record(["sh", "-c", script], rate=1000)
        self.addCleanup(os.unlink, recording.run.stdout.decode().strip())
        self.assertEqual(recording.time_of("made_before", "total_ns"), 0)
        self.assertTrue([note for note in recording.head()["notes"] if STALE in note])


if __name__ == "__main__":
    unittest.main(verbosity=2)
