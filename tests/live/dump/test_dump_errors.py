"""Processes that cannot be dumped: one sentence with what would help, and the right exit code."""

import json
import os
import re
import signal
import subprocess
import unittest

import command_line
import live
import live_dump
import processes

FAILED, USAGE = command_line.FAILED, command_line.USAGE
FUNCTIONS = ("main", "plain", "with_alloca", "wait_here", "wait_for_good")
# Makes itself not dumpable, as what has changed its user is.
HIDDEN = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0); print('ready', flush=True); sys.stdin.read()"


class Errors(live_dump.DumpTest):
    def assert_refused(self, pid, code, *words, as_user=None):
        done = self.dump_run(pid, as_user=as_user)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (code, b""), said)
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_what_is_no_number_of_a_process_is_a_mistake_of_the_command(self):
        for word in ("x", "0", "-1", "1.5", "", "99999999999999999999"):
            with self.subTest(word):
                done = subprocess.run([live.FATHOM, "dump", "--", word], capture_output=True, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
                self.assertIn(b"number of a process", done.stderr)
        for words in ((), ("1", "2")):
            done = subprocess.run([live.FATHOM, "dump", *words], capture_output=True, timeout=300)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(b"fathom dump PID", done.stderr)

    def test_there_is_no_such_process(self):
        self.assert_refused(4194304, FAILED, "there is no process 4194304")

    def test_a_process_that_has_ended_and_was_not_waited_for(self):
        run = subprocess.Popen(["true"])
        self.addCleanup(run.wait)
        processes.wait_until(lambda: b") Z" in processes.read_bytes(f"/proc/{run.pid}/stat"), 300, "it does not end")
        self.assert_refused(run.pid, FAILED, "has ended", "not waited for")

    def test_a_thread_of_the_kernel(self):
        if b"kthreadd" not in processes.read_bytes("/proc/2/comm"):
            self.skipTest("process 2 is no kernel thread here: a container shows none")
        self.assert_refused(2, FAILED, "kernel", "kthreadd")

    def test_a_thread_that_is_not_the_first_names_the_process(self):
        run = self.start(live.workload("blocked", "still", 1))
        tid = max(map(int, os.listdir(f"/proc/{run.pid}/task")))
        self.assert_refused(tid, FAILED, f"fathom dump {run.pid}")

    def test_a_32_bit_program(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "thirty_two.c")
        run = self.start([self.compile("thirty_two", source, "-m32", "-O1", "-nostdlib", "-static", "-fno-pic")])
        if run.first_line != b"ready\n":
            self.skipTest("this kernel executes no 32-bit programs")
        self.assert_refused(run.pid, FAILED, "thirty_two", "is a 32-bit program", f"gdb -p {run.pid}")

    def test_itself(self):
        done = subprocess.run(["sh", "-c", f"exec '{live.FATHOM}' dump $$"], capture_output=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assertIn(b"fathom itself", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to have processes of two users")
    def test_another_users_process_says_sudo(self):
        run = self.start(live.workload("blocked", "still", 1))
        self.assert_refused(run.pid, FAILED, "another user", f"sudo fathom dump {run.pid}", as_user=live.ORDINARY_USER)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become an ordinary user")
    def test_one_that_is_not_dumpable_says_sudo(self):
        run = self.start([self.need("/usr/bin/python3"), "-c", HIDDEN], user=live.ORDINARY_USER, group=live.ORDINARY_USER,
                         extra_groups=[])
        self.assert_refused(run.pid, FAILED, f"sudo fathom dump {run.pid}", as_user=live.ORDINARY_USER)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to have processes of two users")
    def test_root_without_the_capability_says_which_it_needs(self):
        setpriv = self.need("setpriv")
        run = self.start(live.workload("blocked", "still", 1), user=live.ORDINARY_USER, group=live.ORDINARY_USER, extra_groups=[])
        self.assert_says([setpriv, "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", live.FATHOM, "dump",
                          str(run.pid)], "root needs CAP_SYS_PTRACE", "--cap-add SYS_PTRACE")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to have a user namespace that maps another user only")
    def test_root_of_a_user_namespace_says_that_it_is_not_allowed(self):
        unshare = self.need("unshare")
        run = self.start(live.workload("blocked", "still", 1))
        if subprocess.run([unshare, "-Ur", "true"], capture_output=True, user=live.ORDINARY_USER, timeout=300).returncode != 0:
            self.skipTest("user namespaces are not allowed here")
        self.assert_says([unshare, "-Ur", live.FATHOM, "dump", str(run.pid)], "may not be read", user=live.ORDINARY_USER,
                         group=live.ORDINARY_USER, extra_groups=[])

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount what yama would say")
    def test_yama_is_named_with_the_setting_that_would_help(self):
        unshare, setpriv = self.need("unshare"), self.need("setpriv")
        run = self.start([self.need("/usr/bin/python3"), "-c", HIDDEN], user=live.ORDINARY_USER, group=live.ORDINARY_USER,
                         extra_groups=[])
        for scope, words in (("1", "sysctl kernel.yama.ptrace_scope=0"), ("3", "until the next boot")):
            script = ("mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && "
                      f"echo {scope} > /proc/sys/kernel/yama/ptrace_scope || exit 77; exec '{setpriv}' --reuid={live.ORDINARY_USER} "
                      f"--clear-groups '{live.FATHOM}' dump {run.pid}")
            command = [unshare, "-m", "sh", "-c", script]
            if subprocess.run(command, capture_output=True, timeout=300).returncode == 77:
                self.skipTest("nothing can be mounted here")
            self.assert_says(command, f"kernel.yama.ptrace_scope is {scope}", words)

    def assert_says(self, command, *words, **options):
        done = subprocess.run(command, capture_output=True, timeout=300, **options)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout, said.count("\n")), (FAILED, b"", 1), said)
        for word in words:
            self.assertIn(word, said)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become an ordinary user")
    def test_an_ordinary_user_dumps_a_process_of_its_own(self):
        scope = processes.read_bytes("/proc/sys/kernel/yama/ptrace_scope").strip()
        if scope not in (b"", b"0"):
            self.skipTest(f"kernel.yama.ptrace_scope is {scope.decode()}, and the test is not its parent")
        run = self.start(live.workload("blocked", "still", 3), user=live.ORDINARY_USER, group=live.ORDINARY_USER, extra_groups=[])
        dump = self.dump(run.pid, as_user=live.ORDINARY_USER)
        self.assertEqual(len(dump["threads"]), 4)

    def test_programs_that_end_meanwhile_are_dumped_or_said_to_have_ended(self):
        for _ in range(40):
            run = subprocess.Popen(live.workload("blocked", "churn", 20), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
            done = self.dump_run(run.pid)
            run.wait(timeout=300)
            self.assertIn(done.returncode, (0, FAILED), done.stderr)
            if done.returncode == FAILED:
                self.assertRegex(done.stderr.decode(), "^fathom: (process|there is no process) .*\n$")

    def test_a_stopped_process_is_dumped_and_stays_stopped(self):
        run = self.start(live.workload("blocked", "still", 3))
        os.kill(run.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, run.pid, signal.SIGCONT)
        dump = self.dump_until(run.pid, lambda dump: all(
            thread["state"] == "T" for thread in dump["threads"]), "it does not stop")
        self.assertEqual(len(dump["threads"]), 4)
        self.assertTrue(all(thread["ending"] == "complete" for thread in dump["threads"]), dump)

    def test_a_process_under_a_debugger_is_dumped_as_gdb_sees_it(self):
        gdb = self.need("gdb")
        run = self.start(live.workload("blocked", "still", 10))
        dumped = self.path("dumped")
        done = subprocess.run([gdb, "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"attach {run.pid}",
                               "-ex", "thread apply all bt", "-ex",
                               f"shell {live.FATHOM} dump --json {run.pid} > {dumped}", "-ex", "detach"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        said = done.stdout.decode(errors="replace")
        if "#0" not in said:
            self.skipTest(f"gdb may not attach here: {done.stderr.decode(errors='replace')[-200:]}")
        with open(dumped, encoding="utf-8") as file:
            dump = json.load(file)
        for thread in dump["threads"]:
            self.assertEqual((thread["state"], thread["ending"]), ("t", "complete"), thread)
            ours = [name for name in live_dump.names(thread) if name in FUNCTIONS]
            theirs = re.search(rf"\(LWP {thread['tid']}\).*?\n(.*?)(?:\n\n|\Z)", said, re.S).group(1)
            self.assertEqual(ours, [name for name in re.findall(r"^#\d+ .*?(\w+) \(", theirs, re.M)
                                    if name in FUNCTIONS], theirs)
        self.assertTrue(all(thread["state"] == "S" for thread in self.dump_until(
            run.pid, lambda dump: dump["threads"][0]["state"] == "S", "it does not go on")["threads"]))


if __name__ == "__main__":
    live.main()
