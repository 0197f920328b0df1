"""What threads wait for: system calls with what they are on, mutexes with their holders."""

import os
import signal
import subprocess
import unittest

import live
import live_dump
import processes
from live_dump import is_resting, names


class Waits(live_dump.DumpTest):
    def dump_of_waits(self):
        self.run_ = self.start(live.workload("waits"))
        return self.dump_until(self.run_.pid, lambda dump: is_resting(dump) and len(dump["deadlocks"]) == 1 and len(
            dump["threads"]) == 8 and all(names(thread) for thread in dump["threads"]), "it does not come to rest")

    def of(self, dump, function):
        return next(thread for thread in dump["threads"] if function in names(thread))

    def test_calls_say_what_they_are_on(self):
        dump = self.dump_of_waits()
        self.assertEqual(self.of(dump, "main")["wait"], "read(a pipe, descriptor 0)")
        self.assertEqual(self.of(dump, "in_poll")["wait"], "poll(2 sockets, a pipe)")
        self.assertEqual(self.of(dump, "in_epoll")["wait"], "epoll_wait(2 descriptors)")
        self.assertEqual(self.of(dump, "in_sleep")["wait"], "clock_nanosleep(5000.5 s)")
        self.assertEqual(self.of(dump, "in_sleep")["system_call"]["name"], "clock_nanosleep")

    def test_a_circle_of_mutexes_is_named_and_a_condition_has_no_owner(self):
        dump = self.dump_of_waits()
        owners = {thread["tid"]: thread["lock_owner"] for thread in dump["threads"]}
        circle = dump["deadlocks"][0]
        self.assertEqual(len(circle), 3)
        self.assertEqual(circle[0], min(circle))
        self.assertEqual([owners[tid] for tid in circle], circle[1:] + circle[:1])
        self.assertEqual(self.of(dump, "for_a_condition")["wait"], "futex")
        self.assertIsNone(self.of(dump, "for_a_condition")["lock"])
        text = self.dump_run(self.run_.pid).stdout.decode()
        self.assertRegex(text, rf"deadlock: thread {circle[0]} waits for the mutex at 0x[0-9a-f]+, "
                               rf"which thread {circle[1]} holds")

    def test_a_stopped_process_is_still_in_its_deadlock(self):
        circle = self.dump_of_waits()["deadlocks"]
        os.kill(self.run_.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.run_.pid, signal.SIGCONT)
        dump = self.dump_until(self.run_.pid, lambda dump: all(
            thread["state"] == "T" for thread in dump["threads"]), "it does not stop")
        self.assertEqual(dump["deadlocks"], circle)
        self.assertEqual({thread["wait_state"] for thread in dump["threads"]}, {"stopped"})
        self.assertEqual(self.of(dump, "in_sleep")["system_call"]["name"], "clock_nanosleep")

    def test_the_agent_of_a_recorded_program_is_left_out(self):
        recorder = self.start([live.FATHOM, "record", "-q", "-o", self.path("waits.fathom"), "--", *live.workload("waits")])
        pid = processes.command_of(recorder.pid)
        dump = self.dump_until(pid, lambda dump: is_resting(dump) and all(
            names(thread) for thread in dump["threads"]), "it does not come to rest")
        frames = [frame for thread in dump["threads"] for frame in thread["frames"]]
        ours = [frame for frame in frames if "libfathom-agent" in (frame["module"] or "")]
        self.assertIn("poll", [frame["name"] for frame in ours], "the agent interposes it")
        self.assertEqual({frame["is_plumbing"] for frame in ours}, {True})
        self.assertEqual({frame["is_plumbing"] for frame in frames if frame not in ours}, {False})
        self.assertIn(b"in_poll", self.dump_run(pid).stdout)
        self.assertNotIn(b"libfathom-agent", self.dump_run(pid).stdout)

    def test_a_file_is_named_by_its_path(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        run = self.start(["sh", "-c", f"exec 3<>'{fifo}'; echo ready; read line <&3"])
        self.dump_until(run.pid, lambda dump: dump["threads"][0]["wait"] == f"read({fifo})",
                        "it does not wait for its file")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to make namespaces")
    def test_a_process_in_namespaces_of_its_own(self):
        unshare = self.need("unshare")
        folder = self.path("inside")
        os.mkdir(folder)
        command = (f"mount -t tmpfs none '{folder}' && cp '{live.workload('waits')[0]}' '{folder}/waits-inside' && "
                   f"exec '{folder}/waits-inside'")
        run = self.start([unshare, "--pid", "--fork", "--mount", "sh", "-c", command], stderr=subprocess.DEVNULL)
        if run.first_line != b"ready\n":
            self.skipTest("this kernel or container lets root make no namespaces")
        pid = int(processes.read_bytes(f"/proc/{run.pid}/task/{run.pid}/children").split()[0])
        dump = self.dump_until(pid, lambda dump: is_resting(dump) and len(dump["deadlocks"]) == 1,
                               "it does not come to rest")
        self.assertEqual(dump["threads"][0]["inner_tid"], 1)
        self.assertIn("main", names(dump["threads"][0]))
        self.assertIn("in_poll", names(self.of(dump, "in_poll")))

    def test_one_that_waits_without_interruption_shows_its_kernel_function(self):
        source = self.write("vfork.c", "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n\tchar byte;\n\n"
                            "\tputs(\"ready\");\n\tfflush(stdout);\n\tif (vfork() == 0) {\n\t\tread(0, &byte, 1);\n"
                            "\t\t_exit(0);\n\t}\n\treturn 0;\n}\n")
        run = self.start([self.compile("vfork", source)])
        dump = self.dump_until(run.pid, lambda dump: dump["threads"][0]["state"] == "D" and live_dump.is_resting(dump),
                               "it never waits for its child")
        thread, = dump["threads"]
        # Its return address is in a register, which is the system call's first argument.
        self.assertIn("main", live_dump.names(thread))
        self.assertEqual((thread["wait"], thread["ending"]), ("vfork", "complete"))
        if thread["kernel_function"] is None:
            self.skipTest("/proc/PID/wchan says nothing here")
        self.assertIn(f"in the kernel's {thread['kernel_function']}", self.dump_run(run.pid).stdout.decode())

    def test_threads_of_go_end_where_their_stacks_do(self):
        source = self.write("main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n"
                            "\tfor i := 0; i < 3; i++ {\n\t\tgo func() {\n\t\t\tfor n := 0; n >= 0; n += i {\n"
                            "\t\t\t\t_ = make([]byte, n%64)\n\t\t\t}\n\t\t}()\n\t}\n\tfmt.Println(\"ready\")\n"
                            "\tos.Stdin.Read(make([]byte, 1))\n}\n")
        program = self.path("of_go")
        done = subprocess.run([self.need("go"), "build", "-o", program, source], capture_output=True, timeout=600,
                              env={**os.environ, "CGO_ENABLED": "0"})
        if done.returncode != 0:
            self.skipTest(f"go cannot build it: {done.stderr.decode(errors='replace')[-200:]}")
        run = self.start([program])
        dump = self.dump_until(run.pid, lambda dump: any("runtime.mstart" in names(thread) for thread in dump["threads"]),
                               "no thread of the runtime's rests")
        # Behind where a thread begins, or changes to another stack, lies what is left of other calls.
        for thread in dump["threads"]:
            with self.subTest(names(thread)):
                self.assertIn(thread["ending"], ("complete", "switched", None))
                for last in {"runtime.mstart", "runtime.mcall", "runtime.morestack"} & set(names(thread)):
                    self.assertEqual(names(thread)[-1], last)


if __name__ == "__main__":
    live.main()
