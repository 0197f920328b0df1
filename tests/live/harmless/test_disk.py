"""What becomes of a recording when its disk is slow, or its recorder is stopped or killed.

With FATHOM_LONG=1 in the environment the recorder is killed at 200 moments in place of 15.
"""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import live
from live import FATHOM, workload
from processes import command_of, cpu_seconds, end_process, read_bytes, wait_until

PROGRAMS = 40 if live.IS_LONG else 20
DELAY_S = 3  # of the workload slow_disk
# Were each program to wait for the disk once, they would all take PROGRAMS * DELAY_S.
MOST_S = PROGRAMS * DELAY_S / 4
WAITED_S = 0.8
MOMENTS = 200 if live.IS_LONG else 15
AT_ONCE = 5
# A commit each half second, of what was read a tenth of a second before.  Beside other work both the recorder and the
# program that writes when it was seen wait for a processor: a few kills may lose more, and none loses a lot.
MOST_LOST_S = 1.5
MOST_LOST_EVER_S = 5
MANY = 0.2  # of the kills
# After a kill: programs that have to run yet, and how many there are at most, were they not to be stopped.
GO_ON = 5
MOST_PROGRAMS = 1000


def slow_disk(path):
    """The environment in which each fsync waits while a file is at the path."""
    return {"SLOW_DISK": path, "LD_PRELOAD": os.path.join(live.WORKLOADS, "libslow_disk.so")}


class SlowDisk(live.LiveTest):
    def programs(self):
        """Processes one after the other, and the disk is slow from before the first to behind the last."""
        slow = self.path("slow")
        return ["sh", "-c", f": >{slow}; i=0; while [ $i -lt {PROGRAMS} ]; do {workload('brief')[0]} 40 >>output || exit 9;"
                            f" i=$((i + 1)); done; rm {slow}"]

    def assert_unhindered(self, name):
        command = self.programs()
        environment = {**os.environ, **slow_disk(self.path("slow"))}
        run = subprocess.run([FATHOM, "record", "-q", "-o", self.path(name), "--", *command], env=environment,
                             stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder, timeout=300)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        recording = live.Recording(self.path(name), run)
        programs = recording.rows("SELECT end_ns - start_ns, unentered_reason,"
                                  " (SELECT count(*) FROM samples s JOIN threads t ON t.id = s.thread"
                                  "  WHERE t.process = p.id) FROM processes p WHERE name = 'brief'")
        self.assertEqual(len(programs), PROGRAMS)
        self.assertEqual([row for row in programs if row[1] is not None or row[2] == 0], [], "not entered or sampled")
        self.assertLess(max(row[0] for row in programs), DELAY_S * 1e9, "a program waited for the disk")
        wall_ns = recording.rows("SELECT value FROM facts WHERE key = 'wall_ns'")[0][0]
        self.assertLess(wall_ns / 1e9, MOST_S, "the programs waited for the disk")
        self.assertEqual(recording.rows("SELECT * FROM lost"), [])

    def test_no_program_waits_for_it_and_none_is_left_out(self):
        self.assert_unhindered("wal.fathom")

    def test_nor_where_each_commit_waits_for_it(self):
        """A folder where the journal's shared memory should be: WAL cannot work."""
        os.mkdir(self.path("rollback.fathom-shm"))
        self.assert_unhindered("rollback.fathom")


class Stopped(live.LiveTest):
    def test_two_seconds_without_the_recorder_lose_no_sample(self):
        """20,000 samples a second fill a mebibyte in one."""
        path = self.path("x.fathom")
        run = subprocess.Popen([FATHOM, "record", "-q", "--rate", "20000", "-o", path, "--", *workload("thirds", 3000)],
                               cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(end_process, run)
        program = command_of(run.pid)
        wait_until(lambda: cpu_seconds(program) > 0.3, 300, "the program does not compute")
        run.send_signal(signal.SIGSTOP)
        began = cpu_seconds(program)
        wait_until(lambda: cpu_seconds(program) - began > 2, 300, "the program does not compute")
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(timeout=300), 0)
        self.assertEqual(live.Recording(path, None).rows("SELECT * FROM lost"), [])


    def test_what_a_start_waits_for_the_recorder_is_no_cost(self):
        """Costs are CPU time: beside other programs an answer takes long, and the program rests."""
        path = self.path("x.fathom")
        run = subprocess.Popen([FATHOM, "record", "-q", "-o", path, "--", "sh", "-c", 'echo here; read line; exec "$@"',
                                "sh", *workload("brief", 40)], cwd=self.folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.addCleanup(end_process, run)
        self.assertEqual(run.stdout.readline(), b"here\n")
        program = command_of(run.pid)
        run.send_signal(signal.SIGSTOP)
        run.stdin.write(b"go\n")
        run.stdin.flush()
        wait_until(lambda: os.readlink(f"/proc/{program}/exe").endswith("brief"), 300, "the program is not executed")
        began = time.monotonic()
        wait_until(lambda: time.monotonic() - began > WAITED_S, 300, "time stands still")
        run.send_signal(signal.SIGCONT)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0)
        recording = live.Recording(path, None)
        self.assertEqual(recording.rows("SELECT unentered_reason FROM processes WHERE name = 'brief'"), [(None,)])
        cost_ns, = recording.rows("SELECT value FROM facts WHERE key = 'sampling_cost_ns'")[0]
        self.assertLess(cost_ns / 1e9, WAITED_S / 2)


class Full(live.LiveTest):
    """--max-size"""

    NOTE = r"the recording ended [0-9.]+ s after its start, at 1 MiB \(--max-size\); the program ran on"

    def assert_ended(self, name, run):
        self.assertEqual((run.returncode, run.stderr), (5, b""))
        self.assertEqual(run.stdout, b"whole\n")
        recording = live.Recording(self.path(name), run)
        self.assertEqual(len([note for note, in recording.rows("SELECT text FROM notes") if re.match(self.NOTE, note)]), 1)
        self.assertEqual(recording.rows("SELECT value FROM facts WHERE key = 'finished'"), [(1,)])
        names = [name for name, in recording.rows("SELECT name FROM processes")]
        self.assertNotIn("brief", names, "what came after the end is in it")
        self.assertEqual([file for file in os.listdir(self.folder) if file.startswith(name + "-")], [])
        self.assertGreaterEqual(os.path.getsize(self.path(name)), 1 << 20)
        return recording

    def test_the_recording_ends_at_a_size_and_the_program_runs_on(self):
        script = f"{workload('thirds')[0]} 3000 >/dev/null; {workload('brief')[0]} >/dev/null; echo whole; exit 5"
        run = subprocess.run([FATHOM, "record", "-q", "--rate", "20000", "--max-size", "1M", "-o",
                              self.path("full.fathom"), "--", "sh", "-c", script], cwd=self.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        if b"timer" in (subprocess.run([FATHOM, "info", self.path("full.fathom")], capture_output=True).stdout):
            self.skipTest("perf events are refused here: the kernel's timers do not fill a recording in a test's time")
        recording = self.assert_ended("full.fathom", run)
        self.assert_adds_up(recording)
        self.assertLess(recording.head()["sampled_ns"], 3e9)
        # A second of samples, and the names at the end.
        self.assertLess(os.path.getsize(self.path("full.fathom")), 4 << 20)

    def test_so_does_a_trace(self):
        program = self.write("calls.py", "import sys\nfor i in range(40000):\n    exec(f'def f{i}(): pass\\nf{i}()')\n"
                                         "import time\ntime.sleep(3)\n")
        script = f"{sys.executable} {program}; {workload('brief')[0]} >/dev/null; echo whole; exit 5"
        run = subprocess.run([FATHOM, "trace", "-q", "--max-size", "1M", "-o", self.path("trace.fathom"), "--", "sh",
                              "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        self.assert_ended("trace.fathom", run)

    def test_a_size_that_is_none_is_refused(self):
        for size in ("1023K", "0", "", "-1M", "1MB", "M", "5X", "1.5G", "99999999999T", " 5M"):
            run = subprocess.run([FATHOM, "record", "--max-size", size, "true"], cwd=self.folder, capture_output=True)
            self.assertEqual(run.returncode, 125, size)
            self.assertIn(f"'--max-size' takes a size of at least 1M, like 500M or 2G (K, M, G, T), not '{size}'",
                          run.stderr.decode())


class Killed(live.LiveTest):
    """SIGKILL of the recorder, at moments drawn by chance."""

    def environment(self):
        return {**os.environ, "XDG_RUNTIME_DIR": self.path("run"), "TMPDIR": self.path("run")}

    def start(self, name):
        """Programs that start one after the other until a file `stop` is there, each of them working and sampled."""
        folder = self.path(name)
        os.mkdir(folder)
        script = (f"n=0; while [ ! -e stop ] && [ $n -lt {MOST_PROGRAMS} ]; do {workload('brief')[0]} 10"
                  " >/dev/null || echo failed >>output; date +%s.%N >>output; n=$((n + 1)); sleep 0.05; done;"
                  " echo ended $n >>output")
        return subprocess.Popen([FATHOM, "record", "-q", "-o", os.path.join(folder, "x.fathom"), "--", "sh", "-c",
                                 f"echo begun >>output; {script}"], cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment())

    def assert_goes_on(self, name):
        """A few programs more, of which none fails, and its end."""
        output = os.path.join(self.path(name), "output")
        before = len(read_bytes(output).splitlines())
        wait_until(lambda: len(read_bytes(output).splitlines()) >= before + GO_ON, 120, "the program does not go on")
        self.write(os.path.join(name, "stop"), "")
        wait_until(lambda: b"ended" in read_bytes(output), 120, "the program did not come to its end")
        self.assertNotIn(b"failed", read_bytes(output))

    def lost_s(self, output, last_s, killed_s):
        """How long before the kill the first program ended that has no sample in the recording."""
        ends = [float(line) for line in read_bytes(output).decode().splitlines() if line[0].isdigit()]
        # The first end after the last sample is that of the program that was sampled.
        later = sorted(end for end in ends if last_s < end < killed_s)[1:]
        return killed_s - later[0] if later else 0

    def look(self, name, killed_s):
        output = os.path.join(self.path(name), "output")
        path = os.path.join(self.path(name), "x.fathom")
        has_begun = os.path.exists(output)
        if has_begun:
            self.assert_goes_on(name)
        else:
            self.write(os.path.join(name, "stop"), "")
        run = subprocess.run([FATHOM, "report", path, "--json"], capture_output=True, timeout=120)
        if not has_begun:
            self.assertIn(run.returncode, (0, 1, 2), run.stderr)
            return
        self.assertEqual(run.returncode, 0, run.stderr)
        recording = live.Recording(path, None)
        last_ns, = recording.rows("SELECT coalesce(max(time_ns), 0) FROM samples")[0]
        start_ns = recording.rows("SELECT value FROM facts WHERE key = 'start_unix_ns'")[0][0]
        self.lost.append(self.lost_s(output, (start_ns + last_ns) / 1e9, killed_s))

    def kill_at(self, number, after_s):
        name = str(number)
        run = self.start(name)
        self.addCleanup(end_process, run)
        time.sleep(after_s)
        killed_s = time.time()
        run.kill()
        run.wait(timeout=300)
        self.look(name, killed_s)

    def test_killed_by_the_program_at_once(self):
        """What is known before the program begins is in, though the next commit still waits for the disk."""
        os.mkdir(self.path("run"), 0o700)
        path = self.path("x.fathom")
        self.write("slow", "")
        os.mkdir(path + "-shm")  # no WAL: each commit waits
        run = subprocess.run([FATHOM, "record", "-q", "-o", path, "--", "sh", "-c", "kill -KILL $PPID; echo whole"],
                             stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder, timeout=120,
                             env={**self.environment(), **slow_disk(self.path("slow"))})
        self.assertEqual((run.returncode, run.stderr), (-signal.SIGKILL, b""))
        os.rmdir(path + "-shm")
        info = subprocess.run([FATHOM, "info", path], capture_output=True, timeout=300)
        self.assertEqual((info.returncode, info.stderr), (0, b""))
        facts = dict(live.Recording(path, None).rows("SELECT key, value FROM facts"))
        self.assertIn("kill -KILL", facts["command"])
        self.assertGreater(facts["start_unix_ns"], 0)
        self.assertRegex(info.stdout, rb"recorded 2\d\d\d-")

    def take_turns(self, moments, failures):
        while moments:
            number, after_s = moments.pop()
            try:
                self.kill_at(number, after_s)
            except Exception as error:  # of another thread, which unittest does not see
                failures.append(f"killed after {after_s:.3f} s: {error}")

    def test_the_recording_can_be_read_and_the_program_goes_on(self):
        os.mkdir(self.path("run"), 0o700)
        by_chance = random.Random(14)
        # A third of them while the session begins.
        moments = [(i, by_chance.uniform(0, 0.3 if i % 3 == 0 else 6)) for i in range(MOMENTS)]
        failures = []
        self.lost = []
        threads = [threading.Thread(target=self.take_turns, args=(moments, failures)) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertLessEqual(sum(lost > MOST_LOST_S for lost in self.lost), MANY * MOMENTS, "more than the last second")
        self.assertLess(max(self.lost), MOST_LOST_EVER_S, "more than the last seconds are missing")
        subprocess.run([FATHOM, "record", "-q", "-o", self.path("next.fathom"), "--", "true"], check=True, timeout=300,
                       env=self.environment())
        left = [os.path.join(folder, name) for folder, folders, files in os.walk(self.path("run"))
                for name in [*files, *folders] if folder != self.path("run")]
        self.assertEqual(left, [], "folders of killed recorders are left")


if __name__ == "__main__":
    live.main()
