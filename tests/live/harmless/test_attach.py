"""record -p brings an agent into a program that runs: its functions are seen, and it notices nothing."""

import os
import random
import signal
import subprocess
import time
import unittest

import command_line
import live
import live_attach
import processes

# Parts of 1/2, 1/3 and 1/6 of its time; it ends by itself, with an exit code of its own.
PYTHON_PARTS = """
import sys, time
def one(n):
    return sum(i * i % 7 for i in range(n))
def three():
    return one(3000)
def two():
    return one(2000)
def last():
    return one(1000)
print("ready", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    three(); two(); last()
print("done", flush=True)
sys.exit(7)
"""
RUBY_PARTS = """
def one(n) = (1..n).sum { |i| i * i % 7 }
def three = one(3000)
def two = one(2000)
def last = one(1000)
$stdout.sync = true
puts "ready"
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  three; two; last
end
puts "done"
exit 7
"""
# Forks, starts programs, and becomes another one at last.
PYTHON_STARTS = """
import os, subprocess, sys
print("ready", flush=True)
bad = 0
while not sys.stdin in __import__("select").select([sys.stdin], [], [], 0)[0]:
    bad += subprocess.run(["true"]).returncode != 0
    pid = os.fork()
    if pid == 0:
        sum(i * i for i in range(20000))
        os._exit(5)
    bad += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 5
    bad += os.system("exit 3") != 3 << 8
os.execv(sys.executable, [sys.executable, "-c", f"import sys; sum(i * i for i in range(3000000)); sys.exit({bad} + 4)"])
"""
# Starts two programs again and again, one of Python and the one that it is given.
PYTHON_PARENT = """
import subprocess, sys
child = "import time\\ndef of_started():\\n    return sum(i * i for i in range(2000))\\n" \\
        "while time.process_time() < 0.6: of_started()\\n"
print("ready", flush=True)
while True:
    started = [subprocess.Popen([sys.executable, "-c", child]), subprocess.Popen([sys.argv[1], "300"], stdout=subprocess.DEVNULL)]
    if any(run.wait() for run in started):
        print("failed", flush=True)
"""
# As setproctitle does: its arguments' place is written over, and filled up with NULs.
TITLED = """
import ctypes
start = int(open("/proc/self/stat").read().rpartition(")")[2].split()[45])
size = len(open("/proc/self/cmdline").read())
title = b"server: idle"
ctypes.memmove(start, title + bytes(size - len(title)), size)
print("ready", flush=True)
while True: sum(range(1000))
"""
BLOCKS = """
import signal, sys, threading, time
def waits():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    print("ready", flush=True)
    while True:
        got = signal.sigtimedwait([signal.SIGTRAP, signal.SIGUSR2], 0.01) if sys.argv[1] == "wait" else None
        if got is not None:
            print("got", got.si_signo, flush=True)
        sum(range(3000))
threading.Thread(target=waits, daemon=True).start()
end = time.monotonic() + 60
while time.monotonic() < end:
    sum(i * i for i in range(1000))
"""


class Interpreters(live_attach.AttachTest):
    compares_times = True

    def assert_parts(self, run, out_of):
        recording = self.need_agent(self.attach(run.pid))
        out, err = run.communicate(timeout=300)
        self.assertEqual((out, err, run.returncode), (b"done\n", b"", 7))
        self.assert_adds_up(recording)
        self.assertGreater(recording.head()["sampling_cost_ns"] or 0, 0)
        total = sum(recording.time_of(out_of + name, "total_ns") for name in ("three", "two", "last"))
        self.assertGreater(total, 0.8 * recording.total_ns())
        for name, share in (("three", 1 / 2), ("two", 1 / 3), ("last", 1 / 6)):
            self.assert_share(recording.time_of(out_of + name, "total_ns") / total, share, 0.06, name)

    def test_python(self):
        self.assert_parts(self.python(PYTHON_PARTS, "4"), "")

    def test_ruby(self):
        ruby = self.need("ruby")
        self.assert_parts(self.start([ruby, self.write("program.rb", RUBY_PARTS), "4"]), "Object#")

    def test_threads_that_are_there_and_that_come(self):
        run = self.start(live.workload("attached", 2))
        recording = self.need_agent(self.attach(run.pid, "--trigger", "sigtrap", "-d", 1))
        self.assertGreater(recording.time_of("burn", "total_ns"), 0.7 * recording.total_ns())
        rows = [row for row in recording.report("--by", "thread")["threads"] if row["self_ns"] > 0]
        self.assertGreaterEqual(len(rows), 2, rows)
        out = run.communicate(b"x", timeout=300)[0]
        self.assertEqual((out, run.returncode), (b"failed 0 early 0 wrong 0 waits some\n", 3))


    def test_system_time_of_threads_that_were_there(self):
        run = self.python("import threading\ndef reads():\n    into = bytearray(1 << 18)\n"
                          "    with open('/dev/zero', 'rb', buffering=0) as zero:\n        while True: zero.readinto(into)\n"
                          "threading.Thread(target=reads, daemon=True).start()\nprint('ready', flush=True)\n"
                          "threading.Event().wait()\n")
        for _ in range(2):
            recording = self.need_agent(self.attach(run.pid, "-d", 2))
            self.assertGreater(recording.time_of("reads", "total_ns"), 0.6 * recording.total_ns())
            self.assert_adds_up(recording)
            self.assertEqual(processes.read_bytes(f"/proc/{run.pid}/timers"), b"")


class Harmless(live_attach.ServerTest):
    def test_python_server(self):
        run = self.assert_cycles_harm_nothing([self.need("/usr/bin/python3"), self.write("server.py", live_attach.PYTHON_SERVER)])
        self.settle(run)
        descriptors, _, agents = self.facts(run)
        self.assertLessEqual(descriptors, 5)
        self.assertEqual(agents, 1, "each attach after the first uses the agent that is there")

    def test_ruby_server(self):
        self.assert_cycles_harm_nothing([self.need("ruby"), self.write("server.rb", live_attach.RUBY_SERVER)])

    def test_no_wait_is_interrupted(self):
        for threads in (0, 2):
            with self.subTest(threads=threads):
                run = self.start(live.workload("attached", threads))
                for _ in range(8 if live.IS_LONG else 3):
                    self.need_agent(self.attach(run.pid, "--trigger", "sigtrap", "-d", 0.1))
                out = run.communicate(b"x", timeout=300)[0]
                self.assertEqual((out, run.returncode), (b"failed 0 early 0 wrong 0 waits some\n", 3))

    def test_a_recorder_that_is_killed_at_any_moment(self):
        run, state = self.serve([self.need("/usr/bin/python3"), self.write("server.py", live_attach.PYTHON_SERVER)])
        moments = random.Random(17)
        for _ in range(25 if live.IS_LONG else 8):
            recorder = subprocess.Popen([live.FATHOM, "record", "-q", "-o", self.path("killed.fathom"), "-p", str(run.pid)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.random() * 0.25)
            recorder.kill()
            recorder.wait()
            self.assertIsNone(run.poll())
        self.assert_served(run, state)
        self.settle(run)
        self.need_agent(self.attach(run.pid, "-d", 0.1))

    def test_it_forks_and_starts_programs_and_becomes_another(self):
        for options in ([], ["--children"]):
            with self.subTest(options):
                run = self.python(PYTHON_STARTS)
                recorder = subprocess.Popen([live.FATHOM, "record", "-q", "-o", self.path("starts.fathom"), "-p", str(run.pid),
                                             *options], stderr=subprocess.PIPE)
                processes.wait_until(lambda: self.facts(run)[2] or recorder.poll() is not None, 300, "no agent comes")
                time.sleep(0.5)
                run.stdin.write(b"x\n")
                run.stdin.close()
                self.assertEqual(run.wait(timeout=300), 4)
                self.assertEqual(recorder.wait(timeout=300), 0, recorder.stderr.read())
                recorder.stderr.close()

    def test_a_shell_that_becomes_an_interpreter_has_its_functions(self):
        self.need_agent(self.attach(self.python("print('ready', flush=True)\nwhile True: pass\n").pid, "-d", 0.1))
        program = self.write("becomes.py", "def of_python(): sum(range(3000))\nwhile True: of_python()\n")
        run = subprocess.Popen(["sh", "-c", f"read go; exec /usr/bin/python3 {program}"], stdin=subprocess.PIPE)
        self.addCleanup(processes.end_process, run)
        path = self.path("becomes.fathom")
        recorder = subprocess.Popen([live.FATHOM, "record", "-q", "-o", path, "-p", str(run.pid)], stderr=subprocess.PIPE)
        self.addCleanup(processes.end_process, recorder)
        processes.wait_until(lambda: live.has_rows(path, "processes") or recorder.poll() is not None, 60,
                             "it does not begin")
        run.stdin.write(b"\n")
        run.stdin.flush()
        processes.wait_until(lambda: self.facts(run)[2] or recorder.poll() is not None, 300, "no agent comes")
        processes.wait_until(lambda: self.has_python(path) or recorder.poll() is not None, 300, "there are no samples of it")
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=300)[1]
        self.assertEqual(recorder.returncode, 0, said)
        report = subprocess.run([live.FATHOM, "report", path], capture_output=True, timeout=300).stdout.decode()
        self.assertIn("of_python", report)
        # What it did before has none that could be missing.
        self.assertNotIn("not seen", report)

    def has_python(self, path):
        return b"of_python" in subprocess.run([live.FATHOM, "report", path], capture_output=True, timeout=300).stdout

    def test_children_of_fork_are_sampled_where_they_are_asked_for(self):
        run = self.python("import os, time\ndef of_child():\n    for _ in range(40): sum(range(100000))\n    os._exit(0)\n"
                          "print('ready', flush=True)\nwhile True:\n    if os.fork() == 0: of_child()\n    os.wait()\n")
        for options, is_wanted in ((["--children"], True), ([], False)):
            recording = self.need_agent(self.attach(run.pid, "-d", 1, *options))
            self.assertEqual(recording.time_of("of_child", "total_ns") > 0, is_wanted, options)
        self.assertIsNone(run.poll())

    def test_programs_that_it_starts_are_sampled_where_they_are_asked_for(self):
        run = self.python(PYTHON_PARENT, live.workload("thirds")[0])
        recording = self.need_agent(self.attach(run.pid, "-d", 4, "--children"))
        self.assertGreater(recording.time_of("of_started", "total_ns"), 0.05 * recording.total_ns())
        self.assertGreater(recording.time_of("f", "total_ns"), 0)
        self.assert_adds_up(recording)
        self.assertLess(recording.head()["unentered_ns"] or 0, 0.1 * recording.total_ns())
        alone = self.need_agent(self.attach(run.pid, "-d", 0.3))
        self.assertIn("--children records them", self.notes(alone))
        self.assertEqual(alone.time_of("of_started", "total_ns"), 0)
        run.kill()
        self.assertEqual(run.stdout.read(), b"", "no child has failed")

    def test_the_agent_is_no_code_that_the_program_made(self):
        run = self.python("import time\nprint('ready', flush=True)\nwhile True: sum(range(3000))\n")
        for _ in range(2):
            recording = self.need_agent(self.attach(run.pid, "-d", 0.2))
            modules = [os.path.basename(path) for path, in recording.rows("SELECT path FROM modules")]
            self.assertIn("libfathom-agent-record.so", modules)
            self.assertNotIn("made while it ran", self.notes(recording))

    def test_a_killed_recorder_leaves_no_program_recorded(self):
        path = self.path("killed.fathom")
        for words in ((), ("--trigger", "timer")):
            recorder = subprocess.Popen([live.FATHOM, "record", "-q", "-o", path, *words, "--", *live.workload("thirds", 60000)],
                                        stderr=subprocess.DEVNULL)
            try:
                processes.wait_until(lambda: self.has_ring(recorder), 300, "no agent has a ring")
                pid = processes.command_of(recorder.pid)
                self.assertIn("another fathom already", self.attach(pid, "-d", 0.1, expect=command_line.OURS).run.stderr.decode())
            finally:
                recorder.kill()
                recorder.wait()
            self.addCleanup(os.kill, pid, signal.SIGKILL)
            recording = self.attach(pid, "-d", 0.3)
            self.assertGreater(recording.head()["samples"], 0)
            for left in (path, path + "-wal", path + "-shm"):
                if os.path.exists(left):
                    os.unlink(left)

    def has_ring(self, recorder):
        pid = processes.command_of(recorder.pid)
        return pid and b"memfd:fathom-ring" in processes.read_bytes(f"/proc/{pid}/maps")

    def test_threads_of_the_attach_are_none_of_the_programs(self):
        run = self.python("print('ready', flush=True)\nwhile True: sum(range(3000))\n")
        for _ in range(2):
            recording = self.need_agent(self.attach(run.pid, "-d", 0.3))
            self.assertEqual([row["tid"] for row in recording.report("--by", "thread")["threads"]], [run.pid])

    def test_a_title_is_its_command(self):
        run = self.start([self.need("/usr/bin/python3"), self.write("titled.py", TITLED), "some", "words", "to", "write", "over"])
        self.assertEqual(self.attach(run.pid, "-d", 0.1).head()["command"], ["server: idle"])

    def test_a_thread_that_blocks_sigtrap_is_named(self):
        run = self.python(BLOCKS, "run")
        recording = self.need_agent(self.attach(run.pid, "-d", 0.5))
        self.assertIn("1 of its threads", self.notes(recording))

    def test_a_thread_that_creates_others_does_not_block_sigtrap(self):
        run = self.python("import threading\ndef brief(): sum(range(3000))\nprint('ready', flush=True)\n"
                          "while True:\n    thread = threading.Thread(target=brief)\n    thread.start()\n    thread.join()\n")
        for _ in range(12 if live.IS_LONG else 4):
            recording = self.attach(run.pid, "-d", 0.1)
            self.assertNotIn("could not be opened", self.notes(recording))
            self.assertNotIn(f" {run.pid} the first, block SIGTRAP", self.notes(self.need_agent(recording)))
        recording = self.need_agent(self.attach(run.pid, "-d", 1))
        report = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, timeout=300, check=True)
        self.assertIn(b"threads too short for this", report.stdout)

    def test_a_thread_that_waits_for_sigtrap_gets_none_of_ours(self):
        run = self.python(BLOCKS, "wait")
        for _ in range(3):
            self.need_agent(self.attach(run.pid, "-d", 0.3))
        run.kill()
        self.assertEqual(run.stdout.read(), b"")


class Elsewhere(live_attach.AttachTest):
    """Processes that see neither the agent's file nor the recorder's socket, nor their own number as we do."""
    compares_times = True

    def in_namespaces(self, *options):
        python = self.need("/usr/bin/python3")
        program = "print('ready', flush=True)\ndef busy():\n    while True:\n        sum(range(1000))\nbusy()\n"
        words = [self.need("unshare"), *options, "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh", python, "-c", program]
        if subprocess.run([*words[:len(options) + 3], "mount -t tmpfs none /tmp"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces can be made here")
        return self.start(words)

    def assert_seen(self, pid):
        recording = self.need_agent(self.attach(pid, "-d", 0.5))
        # The rest is what it took that the agent came: more where half a second is little CPU time.
        self.assertGreater(recording.time_of("busy", "total_ns"), 0.3 * recording.total_ns())
        self.assertNotIn("SIGTRAP", self.notes(recording))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to make namespaces")
    def test_another_mount_namespace(self):
        run = self.in_namespaces("-m")
        for _ in range(2):
            self.assert_seen(run.pid)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to make namespaces")
    def test_another_pid_namespace(self):
        run = self.in_namespaces("-m", "-p", "-f", "--mount-proc", "--kill-child")
        self.assert_seen(processes.command_of(run.pid))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become an ordinary user")
    def test_an_ordinary_users_own_process(self):
        run = self.start([self.need("/usr/bin/python3"), "-c", "print('ready', flush=True)\nwhile True: sum(range(1000))"],
                         user=live.ORDINARY_USER, group=live.ORDINARY_USER, extra_groups=[])
        os.chmod(self.folder, 0o777)
        done = subprocess.run(["setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups", live.FATHOM, "record",
                               "-q", "-o", self.path("user.fathom"), "-p", str(run.pid), "-d", "0.5"], capture_output=True, timeout=120)
        if done.returncode != 0 and b"Permission denied" in done.stderr:
            self.skipTest("an ordinary user cannot read this build")
        self.assertEqual(done.returncode, 0, done.stderr)
        recording = self.need_agent(live.Recording(self.path("user.fathom"), done))
        self.assertGreater(recording.time_of("<module>", "total_ns"), 0.3 * recording.total_ns())


class Refused(live_attach.AttachTest):
    def assert_native_only(self, run, reason, *words):
        """Its stacks are copied, and the recording says why no agent could be brought in."""
        refused = self.attach(run.pid, "--trigger", "sigtrap", "-d", 0.1, expect=command_line.OURS)
        self.assertIn(reason, refused.run.stderr.decode())
        recording = self.attach(run.pid, "-d", 0.3, *words)
        self.assertEqual(recording.head()["trigger"], "copied")
        self.assertIn(reason, self.notes(recording))
        self.assertEqual(self.facts(run)[2], 0)

    def test_it_uses_sigtrap(self):
        run = self.python("import signal\nsignal.signal(signal.SIGTRAP, lambda *a: None)\nprint('ready', flush=True)\n"
                          "while True: pass\n")
        self.assert_native_only(run, "it uses SIGTRAP itself")

    def test_it_is_stopped(self):
        run = self.python("print('ready', flush=True)\nwhile True: pass\n")
        run.send_signal(signal.SIGSTOP)
        processes.wait_until(lambda: b") T" in processes.read_bytes(f"/proc/{run.pid}/stat"), 300, "it does not stop")
        refused = self.attach(run.pid, "--trigger", "sigtrap", "-d", 0.1, expect=command_line.OURS)
        self.assertIn(f"kill -CONT {run.pid}", refused.run.stderr.decode())


if __name__ == "__main__":
    live.main()
