"""record -p: a process that runs already is recorded, and one that cannot be is refused in a sentence."""

import os
import signal
import subprocess
import time
import unittest

import command_line
import live
import live_filter
import processes

OURS = command_line.OURS
# perf_event_open(2) is refused: EPERM.
NO_PERF = ((0x20, 0, 0, 0), (0x15, 0, 1, 298), (6, 0, 0, 0x50001), (6, 0, 0, live_filter.ALLOW))
# Makes itself not dumpable, as what has changed its user is.
HIDDEN = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0); print('ready', flush=True); sys.stdin.read()"

# A debugger that keeps a process stopped.
ATTACHED = ("import ctypes, sys; pid = int(sys.argv[1]); ctypes.CDLL(None).ptrace(16, pid, None, None);"
            "import os; os.waitpid(pid, 0); print('attached', flush=True); sys.stdin.read()")

THREADS = """
#include <pthread.h>
static volatile unsigned long sink;
static void *burn(void *turns)
{
	for (unsigned long i = 0; i < (unsigned long)turns; i++)
		sink += i;
	return turns;
}
int main(void)
{
	pthread_t threads[20];
	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], 0, burn, (void *)1000000000000UL);
	for (;;) {
		pthread_t some[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&some[i], 0, burn, (void *)1000000UL);
		for (int i = 0; i < 4; i++)
			pthread_join(some[i], 0);
	}
}
"""


class PidTest(live.LiveTest):
    def start(self, command, **options):
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.addCleanup(self.end, run)
        return run

    def end(self, run):
        run.kill()
        run.communicate()

    def record_pid(self, *words, launcher=(), quiet=True, timeout=120):
        path = self.path("test.fathom")
        if os.path.exists(path):
            os.unlink(path)
        run = subprocess.run([*launcher, live.FATHOM, "record", *(["-q"] if quiet else []), "-o", path, *map(str, words)],
                             capture_output=True, timeout=timeout, cwd=self.folder)
        return live.Recording(path, run)

    def assert_recorded(self, *words, **options):
        recording = self.record_pid(*words, **options)
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr.decode(errors="replace"))
        return recording

    def assert_refused(self, *words, said=(), launcher=()):
        run = self.record_pid(*words, launcher=launcher).run
        text = run.stderr.decode()
        self.assertEqual((run.returncode, run.stdout), (OURS, b""), text)
        self.assertEqual(text.count("\n"), 1, text)
        for part in said:
            self.assertIn(part, text)
        self.assertFalse(os.path.exists(self.path("test.fathom")), "a recording is left behind")


class Refused(PidTest):
    def test_there_is_no_such_process(self):
        self.assert_refused("-p", 4194304, said=["there is no process 4194304"])

    def test_a_word_that_is_no_number(self):
        for word in ("x", "0", "-1", "1.5"):
            with self.subTest(word):
                self.assert_refused("--pid=" + word, said=["--pid", f"'{word}'"])

    def test_what_does_not_go_together(self):
        self.assert_refused("-p", os.getpid(), "true", said=["no command beside it"])
        self.assert_refused("--children", "true", said=["--children goes with -p"])
        self.assert_refused("-d", 1, "true", said=["-d goes with -p"])
        self.assert_refused("-p", os.getpid(), "-d", "soon", said=["'soon'"])
        for option in (["--wait"], ["--no-children"], ["--paused"], ["--trigger", "timer"]):
            self.assert_refused("-p", os.getpid(), *option, said=[" ".join(option)])

    def test_a_process_that_has_ended_and_was_not_waited_for(self):
        run = subprocess.Popen(["true"])
        self.addCleanup(run.wait)
        processes.wait_until(lambda: b") Z" in processes.read_bytes(f"/proc/{run.pid}/stat"), 300, "it does not end")
        self.assert_refused("-p", run.pid, said=["has ended", "not waited for"])

    def test_a_thread_of_the_kernel(self):
        if b"kthreadd" not in processes.read_bytes("/proc/2/comm"):
            self.skipTest("process 2 is no kernel thread here: a container shows none")
        self.assert_refused("-p", 2, said=["kthreadd", "kernel"])

    def test_a_thread_that_is_not_the_first_names_the_process(self):
        run = self.start(live.workload("blocked", "still", 1))
        run.stdout.readline()
        tid = max(map(int, os.listdir(f"/proc/{run.pid}/task")))
        self.assert_refused("-p", tid, said=[f"fathom record -p {run.pid}"])

    def test_itself(self):
        done = subprocess.run(["sh", "-c", f"exec '{live.FATHOM}' record -q -p $$"], capture_output=True, timeout=300,
                              cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (OURS, b""))
        self.assertIn(b"fathom itself", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to have processes of two users")
    def test_another_users_process_says_sudo(self):
        run = self.start(live.workload("blocked", "still", 1))
        self.assert_refused("-p", run.pid, said=["another user", f"sudo fathom record -p {run.pid}"],
                            launcher=("setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become an ordinary user")
    def test_one_that_is_not_dumpable_says_sudo(self):
        run = self.start([self.need("/usr/bin/python3"), "-c", HIDDEN], user=live.ORDINARY_USER, group=live.ORDINARY_USER, extra_groups=[])
        run.stdout.readline()
        self.assert_refused("-p", run.pid, said=[f"sudo fathom record -p {run.pid}"],
                            launcher=("setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"))

    def test_one_that_root_may_not_read(self):
        """As the first process is in some containers: perf events could be opened on it, and had no samples."""
        try:
            with open("/proc/1/maps", "rb"):
                self.skipTest("all processes may be read here")
        except PermissionError:
            self.assert_refused("-p", 1, said=["process 1 ("])

    def test_where_nothing_could_be_sampled_quiet_ones_say_so_too(self):
        run = self.start(live.workload("blocked", "still", 1))
        run.stdout.readline()
        debugger = self.start([self.need("/usr/bin/python3"), "-c", ATTACHED, str(run.pid)])
        self.assertEqual(debugger.stdout.readline(), b"attached\n")
        done = self.record_pid("-p", run.pid, "-d", 0.2).run
        self.assertEqual(done.returncode, 0)
        for part in (b"no samples were taken", b"a debugger traces"):
            self.assertIn(part, done.stderr)

    def test_where_perf_events_are_forbidden(self):
        run = self.start(live.workload("blocked", "still", 1))
        launcher = live_filter.below(self, NO_PERF)
        self.assert_refused("-p", run.pid, said=["perf_event_open", f"process {run.pid}"], launcher=launcher)
        self.assert_refused("--trigger", "copied", "--", "true", said=["perf_event_open", "copy"], launcher=launcher)

    def test_one_that_is_recorded_already(self):
        run = self.start([live.FATHOM, "record", "-q", "-o", self.path("other.fathom"), "--",
                          *live.workload("thirds", 20000)])
        child = processes.command_of(run.pid)
        processes.wait_until(lambda: b"fathom-ring" in processes.read_bytes(f"/proc/{child}/maps"), 300, "no agent comes")
        self.assert_refused("-p", child, said=["another fathom", "--trigger copied"])
        self.assert_recorded("-p", child, "--trigger", "copied", "-d", 0.3)
        os.kill(child, signal.SIGKILL)

    def test_programs_that_end_meanwhile_are_recorded_or_said_to_have_ended(self):
        for _ in range(20):
            run = subprocess.Popen(live.workload("blocked", "churn", 20), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            done = self.record_pid("-p", run.pid).run
            run.wait(timeout=300)
            self.assertIn(done.returncode, (0, OURS), done.stderr)
            if done.returncode == OURS:
                self.assertRegex(done.stderr.decode(), "^fathom: (process|there is no process) .*\n$")


class Recorded(PidTest):
    def busy(self, *words, **options):
        """A program of ours that burns for a long time, as a process that runs already."""
        run = self.start(live.workload(*words), **options)
        processes.wait_until(lambda: burned_ns(run.pid) > 20_000_000, 300, "it burns nothing")
        return run

    def assert_burned(self, recording, before_ns, after_ns):
        """The account is what the process's own clock says, to what it burned while the session began and ended."""
        self.assert_adds_up(recording)
        self.assertLessEqual(recording.head()["kernel_cpu_ns"], after_ns - before_ns)
        self.assert_explained(recording, within=0.02, slack_ns=1_000_000)

    def test_a_busy_program_for_a_time(self):
        run = self.busy("thirds", 600000)
        before_ns = burned_ns(run.pid)
        recording = self.assert_recorded("-p", run.pid, "-d", 2)
        self.assert_burned(recording, before_ns, burned_ns(run.pid))
        self.assert_whole_stacks(recording, least_samples=20)
        for name in ("f", "g", "h"):
            self.assert_share(recording.time_of(name, "self_ns") / recording.total_ns(), 1 / 3, 0.15, name)
        self.assertEqual(recording.head()["trigger"], "copied")
        self.assertIsNone(run.poll(), "it runs on")

    def test_signals_end_the_recording_and_not_the_program(self):
        run = self.busy("thirds", 600000)
        for number in (signal.SIGINT, signal.SIGTERM):
            path = self.path("test.fathom")
            recorder = subprocess.Popen([live.FATHOM, "record", "-o", path, "-p", str(run.pid)], stderr=subprocess.PIPE,
                                        cwd=self.folder)
            self.addCleanup(self.end, recorder)
            processes.wait_until(lambda: live.has_samples(path, 100), 300, "too few samples are committed for a table")
            recorder.send_signal(number)
            said = recorder.communicate(timeout=300)[1].decode()
            self.assertEqual(recorder.returncode, 0, said)
            self.assertIn("self %", said)
            os.unlink(path)
        self.assertIsNone(run.poll())

    def test_it_ends_with_the_process(self):
        run = self.busy("one_two_five", 1500)
        recording = self.assert_recorded("-p", run.pid)
        self.assertEqual(run.wait(timeout=300), 0)
        self.assert_adds_up(recording)
        self.assertGreater(recording.head()["samples"], 100)

    def test_threads_that_are_there_and_threads_that_are_born(self):
        run = self.start(self.threads_without_end())
        processes.wait_until(lambda: burned_ns(run.pid) > 20_000_000, 300, "it burns nothing")
        before_ns = burned_ns(run.pid)
        recording = self.assert_recorded("-p", run.pid, "-d", 2)
        self.assert_burned(recording, before_ns, burned_ns(run.pid))
        head = recording.head()
        self.assertGreater(head["sampled_ns"], 0.5 * (recording.total_ns() - (head["startup_ns"] or 0)), head)
        born = recording.rows("SELECT count(*) FROM threads WHERE start_ns > 0")[0][0]
        self.assertGreater(born, 5)
        # A thread that has two events is sampled by one: no more is sampled than was burned.
        self.assertLessEqual(head["sampled_ns"], head["kernel_cpu_ns"] * 1.02 + 10_000_000)

    def threads_without_end(self):
        """A program of twenty threads that makes new ones all the time; its command."""
        compiler = self.need("gcc")
        source, program = self.write("threads.c", THREADS), self.path("threads")
        subprocess.run([compiler, "-O1", "-pthread", "-o", program, source], check=True, timeout=120)
        return [program]

    def test_a_process_in_namespaces_of_its_own(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount")
        unshare = self.need("unshare")
        program = live.workload("thirds")[0]
        script = f"mount -t tmpfs none /mnt && cp {program} /mnt/hidden && exec /mnt/hidden 600000"
        run = self.start([unshare, "--pid", "--mount", "--fork", "--mount-proc", "sh", "-c", script], stderr=subprocess.PIPE)

        def inner():
            children = processes.read_bytes(f"/proc/{run.pid}/task/{run.pid}/children").split()
            return next((int(child) for child in children if burned_ns(int(child)) > 20_000_000 and
                         processes.program_of(child.decode()) == "/mnt/hidden"), None)
        try:
            processes.wait_until(lambda: inner() or run.poll() is not None, 300, "it does not begin")
        finally:
            if run.poll() is not None:
                self.skipTest("no namespaces here: " + run.stderr.read().decode(errors="replace"))
        pid = inner()
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        recording = self.assert_recorded("-p", pid, "-d", 1)
        self.assert_whole_stacks(recording, least_samples=20)
        self.assertGreater(recording.time_of("f", "self_ns"), 0, "its file is found in its own root")

    def test_two_processes_and_an_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become an ordinary user")
        user = {"user": live.ORDINARY_USER, "group": live.ORDINARY_USER, "extra_groups": []}
        first, second = self.busy("thirds", 600000, **user), self.busy("one_two_five", 600000, **user)
        recording = self.assert_recorded(
            "-p", first.pid, "-p", second.pid, "-d", 2,
            launcher=("setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"))
        self.assert_adds_up(recording)
        self.assert_explained(recording, within=0.02, slack_ns=1_000_000)
        self.assert_whole_stacks(recording, least_samples=20)
        for name in ("f", "five"):
            self.assertGreater(recording.time_of(name, "self_ns"), 0)

    def test_children_only_where_they_are_asked_for(self):
        script = "while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done); done"
        run = self.start(["sh", "-c", script])
        processes.wait_until(lambda: burned_ns(run.pid) > 20_000_000, 300, "it burns nothing")
        alone = self.assert_recorded("-p", run.pid, "-d", 1)
        self.assertEqual(len(alone.report("--by", "process")["processes"]), 1)
        self.assert_adds_up(alone)
        family = self.assert_recorded("-p", run.pid, "-d", 1, "--children")
        self.assert_adds_up(family)
        self.assertGreater(len(family.rows("SELECT id FROM processes")), 2)


def burned_ns(pid):
    """By the process's own clock: clock_getcpuclockid(3)."""
    clock = ((~pid) << 3) | 2
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return 0


if __name__ == "__main__":
    live.main()
