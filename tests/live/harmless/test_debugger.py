"""A debugger sees the program as it is without us, and what it costs is reported."""

import json
import os
import re
import subprocess
import time
import unittest

from live import FATHOM, ORDINARY_USER, LiveTest, Recording, in_turn, main, workload

TRIGGERS = ("sigtrap", "timer")
# What it burns before the debugger comes, and after it has left.
ENOUGH_NS = 300_000_000
# Until a tracer's end is noticed, on a machine where everything waits for a processor.
NOTICED_NS = 150_000_000
# Of the 100 ms that a traced program burns; a part of them is start-up.
TRACED_NS = 30_000_000
# How the debugger shows the CPU time the program has burned.
MARK = re.compile(r"mark \(cpu_ns=(?:cpu_ns@entry=)?(\d+)\)")


def cpu_ns(pid):
    """CPU time of another process, by its own clock (clock_getcpuclockid(3))."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def as_ordinary_user():
    os.setgroups([])
    os.setgid(ORDINARY_USER)
    os.setuid(ORDINARY_USER)


class Steered:
    """The workload `steered` under fathom, running until it is asked to stop."""

    def __init__(self, test, *options, breeders=0, is_ordinary_user=False, in_system=False, rate=1000):
        self.test = test
        self.stop_file = test.path("stop")
        if os.path.exists(self.stop_file):
            os.unlink(self.stop_file)
        # A recording is its owner's alone, so an ordinary user cannot put one in root's place.
        self.recording_path = test.path("user.fathom" if is_ordinary_user else "test.fathom")
        command = [FATHOM, "record", "-q", "--rate", str(rate), "-o", self.recording_path, *options, "--",
                   *workload("steered", self.stop_file, breeders, *["system"] * in_system)]
        self.run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, cwd=test.folder,
                                    preexec_fn=as_ordinary_user if is_ordinary_user else None)
        test.addCleanup(self.kill)
        self.pid = int(self.run.stdout.readline())

    def burn(self):
        until_ns = cpu_ns(self.pid) + ENOUGH_NS
        while cpu_ns(self.pid) < until_ns:
            time.sleep(0.01)

    def stop(self):
        with open(self.stop_file, "w"):
            pass
        stdout, stderr = self.run.communicate(timeout=120)
        self.test.assertEqual(self.run.returncode, 7, stderr.decode(errors="replace"))
        self.run.stdout_text, self.run.stderr_text = stdout, stderr
        recording = Recording(self.recording_path, self.run)
        recording.burned_ns = json.loads(stdout)["cpu_ns"]
        return recording

    def kill(self):
        if self.run.poll() is None:
            self.run.kill()
        self.run.stdout.close()
        self.run.stderr.close()


class Debugger(LiveTest):

    def setUp(self):
        super().setUp()
        self.need("gdb")
        if os.geteuid() != 0 and not self.may_attach():
            self.skipTest("kernel.yama.ptrace_scope forbids to attach to a process that is no child")

    def may_attach(self):
        try:
            with open("/proc/sys/kernel/yama/ptrace_scope") as scope:
                return scope.read().strip() == "0"
        except OSError:
            return True

    def users(self, number):
        """Whether it is an ordinary user's; in CI one of both in each test."""
        return in_turn((False, True), number) if os.geteuid() == 0 else (False,)

    def gdb(self, *commands, pid=None, program=()):
        arguments = ["gdb", "--batch", "-nx", "-ex", "set debuginfod enabled off"]
        for command in commands:
            arguments += ["-ex", command]
        arguments += ["-p", str(pid)] if pid else ["--args", *program]
        done = subprocess.run(arguments, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        output = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        if "ptrace: Operation not permitted" in output:
            self.skipTest("ptrace is forbidden here")
        return output

    def attach(self, steered, *before):
        """Attaches, breaks at mark(), goes on twice, steps and detaches: the output."""
        return self.gdb(*before, "break mark", "continue", "continue", "step", "backtrace", "delete",
                        "detach", pid=steered.pid)

    def assert_breaks_only(self, output):
        self.assertNotIn("received signal", output)
        self.assertNotIn("SIGTRAP", output)
        self.assertEqual(len(MARK.findall(output)), 2, output)
        self.assertIn("detached]", output)

    def session(self, *options, breeders=0, is_ordinary_user=False, in_system=False, before=()):
        """One program: burns, is debugged, burns again.  Its recording, gdb's output, bounds of the time."""
        steered = Steered(self, *options, breeders=breeders, is_ordinary_user=is_ordinary_user, in_system=in_system)
        steered.burn()
        begin_ns = cpu_ns(steered.pid)
        output = self.attach(steered, *before)
        end_ns = cpu_ns(steered.pid)
        left_unix_ns = time.time_ns()
        steered.burn()
        recording = steered.stop()
        recording.left_ns = left_unix_ns - recording.head()["start_unix_ns"]
        marks = [int(ns) for ns in MARK.findall(output)]
        return recording, output, (marks[-1] - marks[0] if marks else 0, end_ns - begin_ns)

    def session_without_late_trap(self, **options):
        """A trap that was raised before the debugger came, to a thread that waited for a processor
        then, is shown when that goes on (docs/decisions/0013): seldom, so one of some sessions is without."""
        for _ in range(5):
            session = self.session(**options)
            if "received signal SIGTRAP" not in session[1]:
                break
        return session

    def assert_is_reported(self, recording, bounds):
        """The row is as large as what was burned under the debugger, and the books close."""
        traced_ns = recording.head()["traced_ns"]
        least_ns, most_ns = bounds
        self.assertGreaterEqual(traced_ns, least_ns)
        self.assertLessEqual(traced_ns, most_ns + NOTICED_NS)
        self.assertEqual(recording.time_of("[traced by a debugger]", "self_ns"), traced_ns)
        self.assert_adds_up(recording)
        self.assert_explained(recording, slack_ns=5_000_000)

    def assert_sampled_around(self, recording):
        """All that was burned before it came and after it left was sampled, but what threads of 2 ms end with: 2 to 20 % of
        it where much else runs."""
        head = recording.head()
        rest_ns = recording.burned_ns - head["traced_ns"]
        self.assertGreater(rest_ns, 2 * ENOUGH_NS - NOTICED_NS)
        self.assertGreater(head["sampled_ns"] + (head["kernel_unsampled_ns"] or 0), 0.6 * rest_ns, head)
        self.assertGreater(max(time_ns for time_ns, *_ in recording.samples()), recording.left_ns)

    def test_gdb_attaches_breaks_steps_and_detaches_as_without_us(self):
        for is_ordinary_user in self.users(0):
            with self.subTest(is_ordinary_user=is_ordinary_user):
                recording, output, bounds = self.session_without_late_trap(is_ordinary_user=is_ordinary_user)
                self.assert_breaks_only(output)
                self.assert_is_reported(recording, bounds)
                self.assert_sampled_around(recording)

    def test_threads_that_are_born_meanwhile_are_not_sampled_and_those_after_are(self):
        for is_ordinary_user in self.users(1):
            with self.subTest(is_ordinary_user=is_ordinary_user):
                recording, output, bounds = self.session_without_late_trap(breeders=2, is_ordinary_user=is_ordinary_user)
                self.assert_breaks_only(output)
                self.assert_is_reported(recording, bounds)
                self.assert_sampled_around(recording)

    def test_timers_cannot_be_stopped_from_outside_and_the_report_says_what_helps(self):
        recording, output, bounds = self.session("--trigger", "timer",
                                                 before=("handle SIGTRAP nostop noprint",))
        self.assertEqual(len(MARK.findall(output)), 2, output)
        self.assert_is_reported(recording, bounds)
        notes = " ".join(recording.head()["notes"])
        self.assertIn("handle SIGTRAP nostop noprint", notes)

    def test_a_timer_beside_events_is_seen_once_and_goes_on_when_the_debugger_has_left(self):
        """Where events count no system time; elsewhere there is none to be seen."""
        recording, output, bounds = self.session(is_ordinary_user=os.geteuid() == 0, in_system=True)
        self.assertLessEqual(output.count("received signal SIGTRAP"), 1, output)
        self.assertEqual(len(MARK.findall(output)) + output.count("received signal SIGTRAP"), 2, output)
        self.assert_is_reported(recording, bounds)
        self.assert_sampled_around(recording)
        if "system time is sampled by timers" in recording.head()["trigger_why"]:
            functions = recording.functions_of_stacks()
            reads_ns = sum(weight_ns for time_ns, _, stack, weight_ns in recording.samples()
                           if time_ns > recording.left_ns and "read_zeros" in functions[stack])
            self.assertGreater(reads_ns, ENOUGH_NS / 10)

    def test_a_program_that_gdb_starts_is_not_sampled_and_runs_as_without_us(self):
        program = workload("brief", 100)
        bare = self.gdb("break hurry", "run", "backtrace", "delete", "continue", program=program)
        self.assertIn("exited normally", bare)
        for trigger in TRIGGERS:
            for record in (self.record, self.record_as_user):
                with self.subTest(trigger=trigger, record=record.__name__):
                    command = ["gdb", "--batch", "-nx", "-ex", "set debuginfod enabled off"]
                    for word in ("break hurry", "run", "backtrace", "delete", "continue"):
                        command += ["-ex", word]
                    recording = record([*command, "--args", *program], "--trigger", trigger)
                    output = recording.run.stdout.decode(errors="replace")
                    self.assertNotIn("received signal", output)
                    self.assertIn("Breakpoint 1, hurry", output)
                    self.assertIn("exited normally", output)
                    self.assertGreater(recording.head()["traced_ns"], TRACED_NS)
                    self.assertEqual(recording.time_of("hurry", "self_ns"), 0)
                    self.assert_adds_up(recording)

    def test_a_child_that_asks_to_be_traced_meets_no_trap_on_its_way_to_exec(self):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                recording = self.record(workload("traced_child"), "--trigger", trigger)
                counts = recording.truth["counts"]
                self.assertEqual(counts, {"exec_stops": 1, "other_stops": 0})
                self.assertGreater(recording.head()["traced_ns"], TRACED_NS)


class Strace(LiveTest):

    def setUp(self):
        super().setUp()
        self.need("strace")
        done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, timeout=300)
        if done.returncode != 0:
            self.skipTest("ptrace is forbidden here: " + done.stderr.decode(errors="replace").strip())

    def test_stracing_a_program_shows_no_trap_of_ours(self):
        for _ in range(20):
            calls = self.path("calls")
            self.record(["strace", "-qe", "trace=none", "-o", calls, "true"])
            with open(calls) as log:
                self.assertNotIn("SIGTRAP", log.read())

    def test_a_program_that_strace_runs_is_traced_and_ends_as_without_us(self):
        for trigger in TRIGGERS:
            for record in (self.record, self.record_as_user):
                with self.subTest(trigger=trigger, record=record.__name__):
                    calls = self.path(f"{trigger}-{record.__name__}")
                    recording = record(["strace", "-f", "-o", calls, "sh", "-c",
                                        " ".join(workload("brief", 100)) + "; exit 5"],
                                       "--trigger", trigger, expect=5)
                    self.assertGreater(recording.head()["traced_ns"], TRACED_NS)
                    self.assert_adds_up(recording)

    def test_a_recorder_that_is_traced_with_all_its_children_samples_none_of_them(self):
        launcher = ("strace", "-f", "-o", self.path("calls"))
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                recording = self.record(workload("brief", 100), "--trigger", trigger, launcher=launcher)
                self.assertEqual(recording.time_of("hurry", "self_ns"), 0)
                head = recording.head()
                # A recorder that is traced itself may be too slow for the agent, which goes on without it.
                unsampled = "unentered_ns" if head["traced_ns"] is None else "traced_ns"
                self.assertGreater(head[unsampled], TRACED_NS, head["notes"])
                self.assert_adds_up(recording)


class SignalsByRawCalls(LiveTest):

    def kernel(self):
        return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", os.uname().release).groups())

    def notes_of(self, recording):
        return " ".join(recording.head()["notes"])

    def test_one_that_sigtrap_killed_is_named_with_what_helps(self):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                recording = self.record(workload("unheeding"), "--trigger", trigger, expect=133)
                self.assertRegex(self.notes_of(recording), r"unheeding \(pid \d+\) was killed by SIGTRAP")
                self.assertIn("fathom record --no-children -- sh -c 'COMMAND; exit $?'",
                              self.notes_of(recording))

    def test_what_the_note_says_helps(self):
        script = workload("unheeding")[0] + "; exit $?"
        recording = self.record(["sh", "-c", script], expect=133)
        # Before Linux 6.15 only its parent knows how a process ended that is gone.
        if self.kernel() >= (6, 15):
            self.assertIn("--no-children samples the command alone", self.notes_of(recording))
        recording = self.record(["sh", "-c", script], "--no-children", expect=3)
        self.assertGreater(recording.head()["unentered_ns"], 150_000_000)
        self.assertNotIn("SIGTRAP", self.notes_of(recording))


if __name__ == "__main__":
    main()
