"""fathom top: a live view on a terminal of any size, and plain lines elsewhere."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import live
import live_dump
import processes

PROGRAM = """\
import sys
def inner():
    return sum(i * i for i in range(3000))
def outer():
    while True:
        inner()
print("begins", flush=True)
outer()
"""
ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


class Screen:
    """fathom on a terminal of its own, and what that shows."""

    def __init__(self, command, columns, lines, folder, **environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execve(live.FATHOM, [live.FATHOM, *command],
                      {**os.environ, "TERM": "xterm", "TMPDIR": folder, **environment})
        self.seen = b""
        self.status = None

    def read(self, seconds=0.2):
        """What comes within that time; False once it has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += more
        return bool(more)

    def shown(self):
        """The lines of the last screen that came whole, without colours."""
        screens = self.seen.split(b"\033[H")
        whole = [screen for screen in screens if b"\033[J" in screen]
        text = whole[-1].split(b"\033[J")[0].decode() if whole else ""
        return [re.sub("\033\\[[0-9;?]*[A-Za-z]", "", line) for line in text.split("\r\n")]

    def wait(self, is_so, otherwise):
        def look():
            self.read()
            return is_so(self.shown())
        processes.wait_until(look, 120, otherwise)
        return self.shown()

    def press(self, keys):
        os.write(self.fd, keys)

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def end(self):
        """Its exit status, when it ends."""
        deadline = time.monotonic() + 120
        while self.read() and time.monotonic() < deadline:
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGTERM)
            self.end()
        os.close(self.fd)


def has(word):
    return lambda lines: any(word in line for line in lines)


class Top(live_dump.DumpTest):
    def setUp(self):
        super().setUp()
        self.folder = self.path("temporary")
        os.makedirs(self.folder, exist_ok=True)
        self.python = self.need("/usr/bin/python3")
        self.program = self.write("top.py", PROGRAM)

    def open(self, *command, columns=80, lines=24, **environment):
        screen = Screen(["top", *command], columns, lines, self.folder, **environment)
        self.addCleanup(screen.close)
        return screen

    def run_top(self, *command, **options):
        return subprocess.run([live.FATHOM, "top", *command], capture_output=True, timeout=120,
                              env={**os.environ, "TMPDIR": self.folder}, stdin=subprocess.DEVNULL, **options)

    def test_options_may_stand_behind_a_process(self):
        busy = subprocess.Popen([self.python, self.program], stdout=subprocess.PIPE)
        self.addCleanup(busy.stdout.close)
        self.addCleanup(processes.end_process, busy)
        self.assertEqual(busy.stdout.readline(), b"begins\n")
        # inner has no time of its own among native functions: on 24 lines it is there only while
        # few of those have been sampled.
        screen = self.open(str(busy.pid), "--native", "-i", "0.5", lines=100)
        screen.wait(has("inner"), "its function never shows")
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)
        done = self.run_top(str(busy.pid), "-n", "3", "4711")
        self.assertEqual((done.returncode, done.stderr), (125, b"fathom: top takes one process, and not '4711' besides\n"))

    def test_a_command_in_80_by_24_until_q(self):
        screen = self.open("--", self.python, self.program)
        lines = screen.wait(has("inner"), "its function never shows")
        self.assertEqual(len(lines), 24)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        self.assertIn(self.program.encode(), screen.seen)
        self.assertTrue(has("top.py:")(lines) and has("Python")(lines), lines)
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)
        self.assertEqual((screen.seen.count(ENTER), screen.seen.count(LEAVE)), (1, 1))
        # What the command wrote is not lost, and not among the rows.
        self.assertIn(b"begins", screen.seen.split(LEAVE)[1])
        self.assertNotIn(b"begins", screen.seen.split(LEAVE)[0])
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("fathom-top")], [])

    def test_keys_sort_and_choose_and_a_new_size_is_taken(self):
        screen = self.open("--", self.python, self.program)
        screen.wait(has("inner"), "its function never shows")
        screen.press(b"t")
        screen.wait(has("self %  total %*"), "the mark of the order does not move")
        screen.press(b"T")
        lines = screen.wait(lambda lines: re.search(
            r"self %  total %  self %  total %\*", "\n".join(lines)), "the order is not that since the start")
        screen.press(b"h")
        screen.wait(has("tid "), "threads are not shown")
        screen.press(b"p")
        screen.wait(has(" process"), "processes are not shown")
        screen.press(b"f")
        screen.wait(has("inner"), "functions are not shown again")
        screen.resize(120, 40)
        lines = screen.wait(lambda lines: len(lines) == 40, "it does not take the new size")
        self.assertTrue(any(len(line) > 60 for line in lines), lines)
        screen.resize(40, 8)
        lines = screen.wait(lambda lines: len(lines) == 8, "it does not take the small size")
        self.assertTrue(all(len(line) <= 40 for line in lines), lines)
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)

    def test_without_colours_where_none_are_wanted(self):
        screen = self.open("--", self.python, self.program, NO_COLOR="1")
        screen.wait(has("inner"), "its function never shows")
        self.assertNotRegex(screen.seen, rb"\033\[[0-9;]*m")
        screen.press(b"\x03")
        self.assertEqual(screen.end(), 0)

    def test_a_dumb_terminal_gets_plain_lines(self):
        screen = self.open("-i", "0.3", "-n", "3", "--", self.python, "-c", "sum(i * i for i in range(9000000))", TERM="dumb")
        self.assertEqual(screen.end(), 0)
        self.assertNotIn(b"\033", screen.seen)
        self.assertIn(b"self %* total %", screen.seen)

    def test_a_command_that_ends_is_shown_until_q_with_its_exit_code(self):
        screen = self.open("--", self.python, "-c", "sum(i * i for i in range(3000000)); raise SystemExit(7)")
        screen.wait(has("ended with exit code 7 (q quits)"), "it does not say that it has ended")
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)

    def test_without_a_terminal_there_are_plain_lines_and_the_exit_code_is_the_commands(self):
        done = self.run_top("-n", "4", "-i", "0.3", "--", self.python, "-c",
                            "import sys\ndef busy(): return sum(i * i for i in range(6000000))\n"
                            "busy()\nprint('its own')\nsys.exit(5)")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertNotIn(b"\033", done.stdout)
        self.assertIn(b"its own", done.stderr)
        blocks = done.stdout.decode().rstrip("\n").split("\n\n")
        self.assertIn("busy", blocks[-1])
        self.assertIn("ended with exit code 5", blocks[-1])
        self.assertTrue(all(len(block.splitlines()) <= 8 for block in blocks), blocks)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("fathom-top")], [])

    def test_the_wall_clock_has_waits_and_their_states(self):
        waits = self.write("waits.py", "import threading, time\n"
                           "def naps():\n    while True:\n        time.sleep(0.05)\n"
                           "def takes(event=threading.Event()):\n    event.wait()\n"
                           "for run in (naps, takes):\n    threading.Thread(target=run).start()\n"
                           "naps()\n")
        screen = self.open("--clock", "wall", "--", self.python, waits)
        lines = screen.wait(has("naps"), "its function never shows")
        self.assertTrue(has("mostly, now")(lines), lines)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        screen.wait(lambda lines: any(re.search(r"now .*\d % (sleep|lock)", line) for line in lines[:3]),
                    "the states are not on top")
        screen.wait(lambda lines: any(re.search(r"naps +sleep \d+ %", line) for line in lines),
                    "a function's states are not shown")
        screen.press(b"w")
        screen.wait(lambda lines: any(re.search(r"\d  sleep", line) for line in lines), "no row is a state's")
        screen.press(b"h")
        screen.wait(has("tid "), "threads are not shown")
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)

    def test_the_cpu_clock_has_no_states(self):
        screen = self.open("--", self.python, self.program)
        screen.wait(has("inner"), "its function never shows")
        screen.press(b"wp")
        screen.wait(has(" process"), "processes are not shown")
        screen.press(b"w")
        screen.wait(has("inner"), "functions are not shown again")
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)

    def test_a_process_that_runs_is_let_go_again(self):
        run = self.start(live.workload("blocked", "busy", 2))
        screen = self.open(str(run.pid))
        screen.wait(has("burn_here"), "its function never shows")
        screen.press(b"q")
        self.assertEqual(screen.end(), 0)
        self.assertIsNone(run.poll())
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("fathom-top")], [])

    def test_killed_at_once_it_leaves_no_recorder(self):
        screen = self.open("--", self.python, self.program)
        screen.wait(has("inner"), "its function never shows")
        with open(f"/proc/{screen.pid}/task/{screen.pid}/children", encoding="ascii") as file:
            recorder = int(file.read().split()[0])
        os.kill(screen.pid, signal.SIGKILL)
        screen.end()
        processes.wait_until(lambda: not os.path.exists(f"/proc/{recorder}") or b") Z" in processes.read_bytes(
            f"/proc/{recorder}/stat"), 60, "its recorder runs on")

    def test_itself_is_refused(self):
        done = subprocess.run(["sh", "-c", f"exec '{live.FATHOM}' top $$"], capture_output=True, timeout=300,
                              env={**os.environ, "TMPDIR": self.folder}, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (125, b""))
        self.assertIn(b"fathom itself", done.stderr)

    def test_of_one_that_does_nothing_there_is_its_command_and_a_sentence(self):
        run = self.start(live.workload("blocked", "still", 2))
        top = subprocess.Popen([live.FATHOM, "top", "-i", "0.2", str(run.pid)], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": self.folder})
        lines = [top.stdout.readline().decode().rstrip("\n") for _ in range(5)]
        top.terminate()
        top.communicate(timeout=300)
        self.assertTrue(lines[0].startswith(f"fathom top  process {run.pid}  ") and "blocked still 2" in lines[0], lines)
        self.assertIn("--clock wall shows", lines[4])

    def test_the_recording_can_be_kept(self):
        path = self.path("kept.fathom")
        done = self.run_top("-o", path, "--", self.python, "-c", "sum(i * i for i in range(2000000))")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = subprocess.run([live.FATHOM, "report", path], capture_output=True, timeout=300)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_mistakes_have_a_sentence(self):
        for words, code, said in (((), 125, "fathom top PID"), (("-i", "0", "1"), 125, "0.1 to 3600"),
                                  (("--children", "--", "true"), 125, "--children"),
                                  (("--clock", "user", "1"), 125, "takes cpu or wall"),
                                  (("4194303",), 125, "4194303"), (("0",), 125, "number of a process, not '0'"), (("--", "/no/such/program"), 127, "no/such/program")):
            done = self.run_top(*words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertEqual(done.stdout, b"")
            self.assertIn(said, done.stderr.decode())


if __name__ == "__main__":
    live.main()
