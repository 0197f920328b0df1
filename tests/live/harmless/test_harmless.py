"""A program is not changed by being recorded, and a recording survives what happens to it."""

import glob
import os
import pty
import re
import select
import signal
import subprocess
import time

import live
from live import FATHOM, workload
from processes import command_of, cpu_seconds, end_process, read_bytes, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
# By gcc's -pg, of which aarch64 has no more than mcount().
OF_X86_64 = {"mcount", "_mcount", "__fentry__"}


class Endings(live.LiveTest):

    def test_exit_codes_are_the_commands(self):
        for script, code in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 143),
                             ("kill -KILL $$", 137), ("kill -SEGV $$", 139)):
            with self.subTest(script):
                self.record(["sh", "-c", script], expect=code)

    def test_a_command_that_is_not_there_is_127_and_one_sentence(self):
        recording = self.record(["/no/such/command"], expect=127)
        self.assertEqual(len(recording.run.stderr.splitlines()), 1)
        self.assertIn(b"/no/such/command", recording.run.stderr)

    def test_a_command_that_cannot_be_run_is_126_and_one_sentence(self):
        with open(self.path("text"), "w") as file:
            file.write("no program\n")
        recording = self.record([self.path("text")], expect=126)
        self.assertEqual(len(recording.run.stderr.splitlines()), 1)

    def test_a_recording_that_cannot_be_made_is_125_before_the_start(self):
        witness = self.path("witness")
        run = subprocess.run([FATHOM, "record", "-o", "/no/such/folder/x.fathom", "--", "touch", witness],
                             capture_output=True)
        self.assertEqual(run.returncode, 125)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertFalse(os.path.exists(witness))

    def test_an_unknown_option_is_named_and_starts_nothing(self):
        witness = self.path("witness")
        run = subprocess.run([FATHOM, "record", "--no-such-option", "--", "touch", witness], capture_output=True)
        self.assertEqual(run.returncode, 125)
        self.assertIn(b"--no-such-option", run.stderr)
        self.assertFalse(os.path.exists(witness))

    def test_output_is_the_commands_byte_by_byte(self):
        script = ["sh", "-c", r"printf 'a\0b\n'; printf 'warn\377\n' >&2; seq 20000; seq 1000 >&2; ls -l /proc/self/fd/ | wc -l"]
        bare = subprocess.run(script, stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder)
        recorded = self.record(script).run
        self.assertEqual(recorded.stdout, bare.stdout)
        self.assertEqual(recorded.stderr, bare.stderr)

    def test_standard_input_reaches_the_command(self):
        run = subprocess.run([FATHOM, "record", "-q", "-o", self.path("x.fathom"), "--", "cat"],
                             input=b"some bytes\0\n", capture_output=True)
        self.assertEqual(run.stdout, b"some bytes\0\n")


class Surroundings(live.LiveTest):

    def assert_same(self, *options):
        bare = subprocess.run(workload("surroundings"), stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=self.folder)
        recorded = self.record(workload("surroundings"), *options).run
        self.assertEqual(recorded.stdout.decode().splitlines(), bare.stdout.decode().splitlines())

    def test_a_program_sees_the_same_descriptors_signals_and_limits(self):
        self.assert_same()

    def test_so_it_does_with_the_timer(self):
        self.assert_same("--trigger", "timer")

    def trace(self, command):
        return subprocess.run([FATHOM, "trace", "-q", "-o", self.path("trace.fathom"), "--", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder, check=True).stdout.decode()

    def test_so_it_does_traced(self):
        bare = subprocess.run(workload("surroundings"), stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder)
        self.assertEqual(self.trace(workload("surroundings")).splitlines(), bare.stdout.decode().splitlines())

    def test_the_kernel_has_the_signals_of_a_traced_program_as_without_us(self):
        command = ["sh", "-c", "cat /proc/self/status; (trap '' TRAP; exec sh -c 'cat /proc/self/status')"]
        bare = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        signals = [re.findall(r"^Sig(?:Blk|Ign|Cgt):.*", text, re.MULTILINE) for text in (bare, self.trace(command))]
        self.assertEqual(*signals)
        self.assertEqual(len(signals[0]), 6)

    def exported(self, kind):
        """What the agent of this kind exports, and what the test has listed of it."""
        if not live.AGENTS:
            self.skipTest("FATHOM_AGENT does not name the folder of the agents")
        path = os.path.join(live.AGENTS, f"libfathom-agent-{kind}.so")
        listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, check=True)
        lines = [line.split() for line in listed.stdout.decode().splitlines()]
        names = sorted({name.split("@")[0] for _, kind, name in lines if kind != "A"})
        with open(os.path.join(HERE, f"exported_{kind}.txt")) as file:
            wanted = [name for name in file.read().split() if kind == "record" or os.uname().machine == "x86_64"
                      or name not in OF_X86_64]
        return names, wanted

    def test_each_agent_exports_what_is_listed(self):
        for kind in ("record", "trace"):
            with self.subTest(kind):
                self.assertEqual(*self.exported(kind))

    def test_what_is_exported_is_in_a_floor_s_table_or_asked_for(self):
        # What programs that know of us ask for: control.h.
        asked = re.compile(r"Init_libfathom|PyInit__fathom|init_fathom$|fathom_agent_|fathom_attach_1$")
        tables = glob.glob(os.path.join(HERE, "../../../src/agent/*/interposed.h"))
        rows = set()
        for path in tables:
            with open(path) as file:
                rows |= set(re.findall(r"^\tX\((\w+),", file.read(), re.MULTILINE))
        names = {name for kind in ("record", "trace") for name in self.exported(kind)[0] if not asked.match(name)}
        self.assertEqual(sorted(names), sorted(rows if os.uname().machine == "x86_64" else rows - OF_X86_64))

    def test_neither_agent_has_what_only_the_other_needs(self):
        record, trace = (set(self.exported(kind)[1]) for kind in ("record", "trace"))
        for name in ("mcount", "__cyg_profile_func_enter", "longjmp", "getenv", "_dl_find_object", "pthread_setspecific"):
            self.assertIn(name, trace - record)
        for name in ("sigaction", "pthread_sigmask", "sigwait", "ppoll", "raise", "_exit", "ptrace"):
            self.assertIn(name, record - trace)


class Signals(live.LiveTest):

    def start(self, *command):
        self.recording_path = self.path("test.fathom")
        run = subprocess.Popen([FATHOM, "record", "-q", "-o", self.recording_path, "--", *command],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=self.folder, start_new_session=True)
        self.addCleanup(end_process, run)
        return run

    def start_signals(self, *arguments):
        run = self.start(*workload("signals", *arguments))
        self.assertEqual(run.stdout.readline(), b"READY\n")
        return run

    def test_signals_of_a_process_go_on_to_the_command(self):
        run = self.start_signals()
        for name in ("HUP", "INT", "USR2", "QUIT"):
            run.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(run.stdout.readline().decode(), name + "\n")
        run.terminate()
        self.assertEqual(run.communicate(timeout=300)[0], b"TERM\n")
        self.assertEqual(run.returncode, 7)
        self.assertEqual(self.head_of(self.recording_path)["command"], workload("signals"))

    def test_a_command_that_dies_of_the_signal_gives_its_code(self):
        run = self.start_signals("--quiet-term")
        run.terminate()
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 143)
        self.head_of(self.recording_path)

    def test_timeout_ends_a_recorded_command(self):
        run = subprocess.run(["timeout", "1", FATHOM, "record", "-q", "-o", self.path("x.fathom"), "--",
                              "sleep", "60"], capture_output=True, timeout=300)
        self.assertEqual(run.returncode, 124)
        self.head_of(self.path("x.fathom"))

    def test_killing_the_command_leaves_a_recording(self):
        run = self.start(*workload("thirds", 20000))
        wait_until(lambda: os.path.exists(self.recording_path), 300, "no recording is begun")
        child = command_of(run.pid)
        wait_for_cpu(child, 1)
        os.kill(child, signal.SIGKILL)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 137)
        self.assertGreater(self.head_of(self.recording_path)["sampled_ns"], 500_000_000)

    def test_killing_the_recorder_leaves_the_program_alone(self):
        output = self.path("output")
        run = self.start("sh", "-c", f"{workload('thirds')[0]} 2300 > {output}; echo code $? >> {output}")
        wait_until(lambda: os.path.exists(output), 300, "the program does not start")
        wait_for_cpu(command_of(command_of(run.pid)), 1.7)
        run.kill()
        run.wait(timeout=300)
        wait_until(lambda: b"code" in read_bytes(output), 300, "the program did not end by itself")
        text = read_bytes(output).decode()
        self.assertIn("code 0", text)
        truth = live.truth_of(text.split("code")[0].encode())
        self.assertGreater(truth["cpu_ns"], 2200000000)
        head = self.head_of(self.recording_path)
        self.assertGreaterEqual(head["sampled_ns"], 500_000_000, "more than the last second is missing")
        functions = live.Recording(self.recording_path, run).report()["functions"]
        self.assertLessEqual({"f", "g", "h"}, {row["name"] for row in functions})

    def test_a_stopped_recorder_does_not_hang_programs_that_start(self):
        run = subprocess.Popen([FATHOM, "record", "-q", "-o", self.path("x.fathom"), "--", "sh", "-c",
                                f"echo READY; read line; {workload('brief')[0]} > /dev/null; echo DONE $?"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(end_process, run)
        self.assertEqual(run.stdout.readline(), b"READY\n")
        run.send_signal(signal.SIGSTOP)
        try:
            run.stdin.write(b"go\n")
            run.stdin.flush()
            self.assertTrue(select.select([run.stdout], [], [], 60)[0], "the program waits for a stopped recorder")
            self.assertEqual(run.stdout.readline(), b"DONE 0\n")
        finally:
            run.send_signal(signal.SIGCONT)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0)
        names = {row["name"] for row in live.Recording(self.path("x.fathom"), run).report()["functions"]}
        notes = self.head_of(self.path("x.fathom"))["notes"]
        self.assertTrue("hurry" in names or any("brief" in text for text in [*names, *notes]), (names, notes))

    def head_of(self, path):
        return live.Recording(path, None).head()


class Terminals(live.LiveTest):

    def open_shell(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ.update(PS1="$ ", HISTFILE="/dev/null", TERM="dumb")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.addCleanup(close_terminal, pid, terminal)
        self.output = b""
        self.terminal = terminal
        self.expect(rb"\$ $")

    def expect(self, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.output):
            self.assertGreater(deadline, time.monotonic(), (pattern, self.output))
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.output += os.read(self.terminal, 4096)
        seen, self.output = self.output, b""
        return seen

    def type(self, text):
        os.write(self.terminal, text)

    def type_record(self):
        command = " ".join([FATHOM, "record", "-q", "-o", "x.fathom", "--", *workload("signals")])
        self.type(command.encode() + b"\n")
        self.expect(rb"READY")

    def end_the_command(self):
        """Only the program itself gets this SIGTERM, so no forwarding is involved."""
        for pid in os.listdir("/proc"):
            if pid.isdigit() and read_bytes(f"/proc/{pid}/cmdline").split(b"\0")[0] == workload("signals")[0].encode() \
                    and os.path.realpath(f"/proc/{pid}/cwd") == os.path.realpath(self.folder):
                os.kill(int(pid), signal.SIGTERM)

    def test_control_c_reaches_the_command_once(self):
        self.open_shell()
        self.type_record()
        seen = b""
        for _ in range(3):
            self.type(b"\x03")
            seen += self.expect(rb"INT\r\n")
        self.end_the_command()
        seen += self.expect(rb"TERM\r\n(.|\n)*\$ $")
        self.assertEqual(seen.replace(b"^C", b"").count(b"INT"), 3, seen)
        self.type(b"echo code=$?\n")
        self.expect(rb"code=7\r\n")
        self.assertEqual(live.Recording(self.path("x.fathom"), None).head()["mode"], "sample")

    def test_control_z_stops_and_fg_goes_on(self):
        self.open_shell()
        self.type_record()
        self.type(b"\x1a")
        self.expect(rb"Stopped(.|\n)*\$ $")
        self.type(b"fg\n")
        self.expect(rb"CONT")
        self.type(b"\x03")
        self.expect(rb"INT\r\n")
        self.end_the_command()
        self.expect(rb"TERM\r\n(.|\n)*\$ $")
        self.type(b"echo code=$?\n")
        self.expect(rb"code=7\r\n")
        self.assertEqual(live.Recording(self.path("x.fathom"), None).head()["mode"], "sample")


class Lives(live.LiveTest):
    compares_times = True

    def test_a_survivor_is_named_after_two_seconds(self):
        begin = time.monotonic()
        recording = self.record(workload("daemonize", 30))
        took = time.monotonic() - begin
        self.assertGreater(took, 1.5)
        self.assertLess(took, 20)
        self.assertIn("daemonize", " ".join(recording.head()["notes"]))
        self.assertLess(recording.time_of("work_of_the_survivor", "self_ns"), 150000000)

    def test_wait_follows_the_survivor_to_its_end(self):
        recording = self.record(workload("daemonize", 4), "--wait")
        time_ns = recording.time_of("work_of_the_survivor", "self_ns")
        self.assertLess(abs(time_ns - 200000000), 10000000)

    def test_a_recording_can_be_read_while_it_is_written(self):
        path = self.path("x.fathom")
        run = subprocess.Popen([FATHOM, "record", "-q", "-o", path, "--", *workload("thirds", 2600)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(end_process, run)
        wait_until(lambda: os.path.exists(path), 300, "no recording is begun")
        wait_for_cpu(command_of(run.pid), 1.7)
        report = live.Recording(path, run).report()
        self.assertIsNone(run.poll())
        self.assertGreater(report["recording"]["sampled_ns"], 500_000_000)
        self.assertLessEqual({"f", "g", "h"}, {row["name"] for row in report["functions"]})
        run.communicate(timeout=300)
        self.assertGreater(live.Recording(path, run).head()["sampled_ns"], 2_400_000_000)
        self.assertEqual(os.listdir(self.folder), ["x.fathom"], "a clean end leaves one file")

    def test_a_second_record_leaves_the_running_one_alone(self):
        first = subprocess.Popen([FATHOM, "record", "-q", "--", *workload("thirds", 1500)], cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(end_process, first)
        wait_until(lambda: os.path.exists(self.path("profile.fathom")), 300, "no recording is begun")
        second = subprocess.run([FATHOM, "record", "--", "true"], cwd=self.folder, capture_output=True, timeout=300)
        self.assertEqual(second.returncode, 0)
        others = [name for name in os.listdir(self.folder) if re.fullmatch(r"profile\.\d+\.fathom", name)]
        self.assertEqual(len(others), 1, os.listdir(self.folder))
        self.assertIn(others[0].encode(), second.stderr)
        first.communicate(timeout=300)
        self.assertGreater(live.Recording(self.path("profile.fathom"), first).head()["sampled_ns"], 1_300_000_000)

    def test_an_older_recording_is_kept_as_old(self):
        for command in ("true", "false"):
            subprocess.run([FATHOM, "record", "-q", "--", command], cwd=self.folder, timeout=300)
        self.assertEqual(sorted(os.listdir(self.folder)), ["profile.fathom", "profile.fathom.old"])
        for name, command in (("profile.fathom", "false"), ("profile.fathom.old", "true")):
            self.assertEqual(live.Recording(self.path(name), None).head()["command"], [command])

    def test_a_report_stands_on_stderr_at_the_end(self):
        run = subprocess.run([FATHOM, "record", "-o", self.path("x.fathom"), "--", *workload("thirds")],
                             capture_output=True, timeout=300)
        self.assertEqual(len(run.stdout.splitlines()), 1)
        for wanted in (rb"\bf\b", rb"\bg\b", rb"\bh\b", rb"samples"):
            self.assertRegex(run.stderr, wanted)


def wait_for_cpu(pid, seconds):
    wait_until(lambda: cpu_seconds(pid) >= seconds, 300, f"{pid} does not compute")


def close_terminal(pid, terminal):
    os.close(terminal)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    live.main()
