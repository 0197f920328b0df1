"""However a program ends, it ends so under fathom, and the recording says what was lost."""

import errno
import functools
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import live
from live import FATHOM, workload
from processes import command_of, cpu_seconds, end_process, read_bytes, wait_until

MS = 1000000
MIB = 1 << 20


class Endings(live.LiveTest):
    """The workload's own endings, by its own list."""

    @functools.lru_cache(maxsize=None)
    def bare(self, *arguments):
        """As it ends without us, after less work."""
        return subprocess.run(workload("endings", *arguments, *["1"] * len(arguments)), stdin=subprocess.DEVNULL,
                              capture_output=True, cwd=self.folder, timeout=300, preexec_fn=no_core)

    def assert_ends_the_same(self, ending, *options):
        bare = self.bare(ending)
        code = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        recording = self.record(workload("endings", ending), *options, expect=code, preexec_fn=no_core)
        self.assertEqual(recording.run.stdout, bare.stdout)
        self.assertEqual(recording.run.stderr, bare.stderr)
        self.assert_adds_up(recording)
        # What was written until the end is there: each ending has 50 ms before it.
        self.assertGreater(recording.time_of("work_before_the_end", "self_ns"), 33 * MS)
        return recording

    def test_every_ending_is_the_programs_own(self):
        endings = self.bare().stdout.decode().splitlines()
        self.assertGreater(len(endings), 10)
        for number, ending in enumerate(endings):
            for options in live.in_turn(((), ("--trigger", "timer")), number):
                with self.subTest(ending=ending, options=options):
                    self.assert_ends_the_same(ending, *options)

    def test_so_it_is_without_privileges(self):
        for ending in ("fault of a thread", "abort", "exec of a thread", "handled overflow"):
            with self.subTest(ending):
                bare = self.bare(ending)
                code = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
                recording = self.record_as_user(workload("endings", ending), expect=code, preexec_fn=no_core)
                self.assertEqual(recording.run.stdout, bare.stdout)

    def test_a_new_program_of_a_thread_is_sampled_on(self):
        for ending in ("exec", "exec of a thread"):
            with self.subTest(ending):
                recording = self.assert_ends_the_same(ending)
                self.assertGreater(recording.time_of("work_after_the_exec", "self_ns"), 33 * MS)
                self.assertEqual(recording.head()["processes"], 2)


class CoreDumps(live.LiveTest):

    def setUp(self):
        super().setUp()
        with open("/proc/sys/kernel/core_pattern") as file:
            pattern = file.read().strip()
        if pattern.startswith(("|", "/")):
            self.skipTest(f"core dumps do not go to the program's folder here: {pattern}")
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("core dumps are forbidden here (ulimit -H -c)")
        self.need("gdb")

    def core_of(self, ending):
        self.record(workload("endings", ending), expect=139, preexec_fn=any_core)
        cores = glob.glob(self.path("core*"))
        if not cores:
            self.skipTest("the kernel wrote no core dump")
        return cores[0]

    def test_the_core_is_the_programs(self):
        for ending, outermost in (("fault", "main"), ("fault of a thread", "clone3?")):
            with self.subTest(ending):
                core = self.core_of(ending)
                shown = subprocess.run(["gdb", "-nx", "-batch", "-ex", "bt", "-ex", "thread apply all bt",
                                        "-ex", "p $_siginfo.si_signo", workload("endings")[0], core],
                                       capture_output=True, timeout=120).stdout.decode()
                os.unlink(core)
                self.assertIn("Program terminated with signal SIGSEGV", shown)
                self.assertIn(f"= {int(signal.SIGSEGV)}", shown)
                self.assertRegex(shown, r"#0 .*crash_here")
                crashed = re.search(r"Thread 1 .*", shown, re.DOTALL).group(0)
                self.assertRegex(crashed, rf"#[1-9] .* {outermost} \(")
                self.assertNotIn("libfathom", crashed)
                self.assertNotIn("on_trap", crashed)

    def test_the_ring_is_not_in_the_core(self):
        core = self.core_of("fault")
        gdb = ["gdb", "-nx", "-batch", workload("endings")[0], core]
        mapped = subprocess.run([*gdb, "-ex", "info proc mappings"], capture_output=True, timeout=120).stdout.decode()
        ring = re.search(r"(0x[0-9a-f]+) .*/memfd:fathom-ring", mapped)
        self.assertIsNotNone(ring, mapped)
        # The first word of struct ring_header.
        self.assertNotIn(b"fatmring", read_bytes(core))


class Recorders(live.LiveTest):
    """What happens to the recorder is not the program's business."""

    def start(self, *command, rate=1000, path=None, **options):
        run = subprocess.Popen([FATHOM, "record", "-q", "--rate", str(rate), "-o", path or self.path("test.fathom"),
                                "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=self.folder, start_new_session=True, **options)
        self.addCleanup(end_process, run)
        return run

    def recording(self, run):
        return live.Recording(self.path("test.fathom"), run)

    def test_a_recorder_stopped_until_the_programs_end_loses_samples_and_says_so(self):
        """Where files may have 2 MiB, the ring holds less than two seconds of it at 20 kHz; the program does not wait."""
        limit = (2 * MIB, 2 * MIB)
        run = self.start(*workload("thirds", 2700), rate=20000,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        child = command_of(run.pid)
        wait_for_cpu(child, 0.5)
        run.send_signal(signal.SIGSTOP)
        try:
            wait_until(lambda: not is_running(child), 120, "the program waits for the recorder")
        finally:
            run.send_signal(signal.SIGCONT)
        out, err = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, err)
        recording = self.recording(run)
        truth = live.truth_of(out)
        self.assertGreater(truth["cpu_ns"], 2600 * MS)
        head = recording.head()
        lost = sum(head["lost"].values()) if isinstance(head["lost"], dict) else head["lost"]
        self.assertGreater(lost, 1000, head)
        self.assert_adds_up(recording)
        report = subprocess.run([FATHOM, "report", self.path("test.fathom")], capture_output=True, timeout=300)
        self.assertRegex(report.stdout.decode(), r"samples .* lost")
        self.assertIn("the ring between program and recorder was full", report.stdout.decode())

    def test_a_killed_recorder_leaves_threads_and_children_alone(self):
        """As the out-of-memory killer does it: no last word, in the middle of everything."""
        command = workload("masses", "crowds", 160)
        bare = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        output = self.path("output")
        run = self.start("sh", "-c", f'"$@" > {output}; echo code $? >> {output}', "sh", *command)
        wait_until(lambda: os.path.exists(self.path("test.fathom")), 300, "no recording is begun")
        wait_for_cpu(command_of(run.pid), 0.0)
        time.sleep(0.3)
        run.kill()
        run.wait(timeout=300)
        wait_until(lambda: b"\ncode 0\n" in read_bytes(output), 100, "the program did not end by itself")
        self.assertEqual(read_bytes(output), bare.stdout + b"code 0\n")

    def test_a_limit_on_files_ends_the_recording_not_the_program(self):
        """ulimit -f: the recorder's SIGXFSZ is not the program's."""
        path = self.path("test.fathom")
        run = self.start(*workload("novelty", 1800), rate=20000)
        wait_until(lambda: live.has_samples(path), 300, "no sample is written")
        most = max(os.path.getsize(path), os.path.getsize(path + "-wal"))
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (most, most))
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertGreater(live.truth_of(out)["cpu_ns"], 1700 * MS)
        self.assertRegex(err, rb"the recording (ended early|is not whole)")
        self.assertGreater(self.recording(run).head()["samples"], 0)

    def test_the_command_has_the_limits_it_would_have(self):
        script = ["sh", "-c", "ulimit -Sn; ulimit -Hn; ulimit -f; cat /proc/self/status | grep SigIgn"]
        launcher = ("sh", "-c", 'ulimit -Sn 200; exec "$@"', "sh")
        bare = subprocess.run([*launcher, *script], stdin=subprocess.DEVNULL, capture_output=True)
        recorded = self.record(script, launcher=launcher).run
        self.assertEqual(recorded.stdout, bare.stdout)

    def test_a_full_disk_ends_the_recording_not_the_program(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("a small file system is to be mounted: root is needed")
        folder = self.path("small")
        os.mkdir(folder)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("nothing can be mounted here: " + mounted.stderr.decode().strip())
        self.addCleanup(subprocess.run, ["umount", folder])
        path = os.path.join(folder, "test.fathom")
        run = self.start(*workload("novelty", 1800), rate=20000, path=path)
        wait_until(lambda: live.has_samples(path), 300, "no sample is written")
        fill(os.path.join(folder, "filler"))
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertGreater(live.truth_of(out)["cpu_ns"], 1700 * MS)
        self.assertRegex(err, rb"the recording (ended early|is not whole).*disk is full")
        kept = self.path("kept.fathom")
        for suffix in ("", "-wal"):
            if os.path.exists(path + suffix):
                shutil.copy(path + suffix, kept + suffix)
        self.assertGreater(live.Recording(kept, run).head()["samples"], 0)

    def test_a_recorder_out_of_descriptors_leaves_processes_out_and_names_them(self):
        command = workload("masses", "crowds", 64)
        bare = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        launcher = ("sh", "-c", 'ulimit -n 32; exec "$@"', "sh")
        recording = self.record(command, launcher=launcher)
        self.assertEqual(recording.run.stdout, bare.stdout)
        self.assert_adds_up(recording)
        rows = recording.rows("SELECT pid, unentered_reason FROM processes")
        self.assertEqual(len(rows), 65)
        reasons = {reason for _, reason in rows if reason}
        # On a busy machine some give up before it is their turn.
        self.assertLessEqual(reasons, {"no file descriptors left for it",
                                       "the recorder was too late to answer it"})

    def test_a_soft_limit_on_descriptors_is_no_limit_of_the_recorder(self):
        launcher = ("sh", "-c", 'ulimit -Sn 30; exec "$@"', "sh")
        recording = self.record(workload("masses", "crowds", 48), launcher=launcher)
        self.assertEqual(recording.rows("SELECT count(*) FROM processes WHERE unentered_reason LIKE '%descriptors%'"),
                         [(0,)])

    def test_control_c_twice_still_leaves_a_recording(self):
        run = self.start(*workload("signals"))
        self.assertEqual(run.stdout.readline(), b"READY\n")
        for _ in range(2):
            os.killpg(run.pid, signal.SIGINT)
            self.assertEqual(run.stdout.readline(), b"INT\n")
        self.assertIsNone(run.poll())
        os.kill(command_of(run.pid), signal.SIGTERM)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 7)
        self.assertEqual(self.recording(run).head()["mode"], "sample")

    def test_control_c_twice_ends_a_program_that_lets_it(self):
        run = self.start(*workload("endings", "fault", 60000))
        child = command_of(run.pid)
        wait_for_cpu(child, 0.3)
        os.killpg(run.pid, signal.SIGINT)
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 130)
        self.assertGreater(self.recording(run).head()["samples"], 100)


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def any_core():
    limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))


def fill(path):
    """With a file, until the disk has no room left."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def state_of(pid):
    fields = read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[0].decode() if fields else ""


def is_running(pid):
    return state_of(pid) not in ("", "Z", "X")


def wait_for_cpu(pid, seconds):
    wait_until(lambda: cpu_seconds(pid) >= seconds, 300, f"{pid} does not compute")


if __name__ == "__main__":
    live.main()
