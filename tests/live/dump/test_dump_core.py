"""Core files: every thread of a process that has ended, and which signal ended it."""

import os
import random
import shutil
import signal
import subprocess
import unittest

import command_line
import live
import live_dump
import live_python
import live_ruby
import processes
from live_core import CoreTest, allow_core
from live_dump import names, places
from live_python import PythonTest

OURS = ("plain", "with_alloca", "wait_here")
FAILED, USAGE = command_line.FAILED, command_line.USAGE
PYTHON = """\
import ctypes, threading, time

def rest(n):
    if n > 0:
        return rest(n - 1)
    ready.set()
    time.sleep(1000)

def crash(address):
    ctypes.memset(address, 0, 1)

def main():
    crash(64)

ready = threading.Event()
thread = threading.Thread(target=rest, args=(3,))
thread.daemon = True
thread.start()
ready.wait()
time.sleep(0.2)
main()
"""
RUBY = """\
class Server
  def rest(depth)
    return rest(depth - 1) if depth > 0
    sleep 1000
  end
end
Thread.new { Server.new.rest(2) }
puts "ready"
STDOUT.flush
STDIN.read
"""


class Native(CoreTest):
    def assert_known(self, run, dump):
        truth = live.truth_of(run.first_line)["threads"]
        threads = {str(thread["tid"]): thread for thread in dump["threads"]}
        self.assertEqual(set(threads), set(truth) | {str(run.pid)})
        for tid, known in truth.items():
            with self.subTest(known):
                self.assertEqual(threads[tid]["ending"], "complete", threads[tid])
                self.assertEqual(threads[tid]["trust"], "consistent")
                frames = [name for name in names(threads[tid]) if name in OURS]
                self.assertEqual(list(reversed(frames)), known["functions"])
                if known["how"] == "futex":
                    self.assertEqual(threads[tid]["lock_owner"], run.pid)

    def test_every_thread_has_the_stack_it_knows_and_the_signal_its_sender(self):
        run, core = self.core_of_killed(live.workload("blocked", "still", 20))
        dump = self.dump_core(core)
        self.assert_known(run, dump)
        self.assertEqual(dump["process"]["pid"], run.pid)
        self.assertEqual(dump["process"]["core"]["missing_files"], [])
        said = dump["process"]["core"]["signal"]
        self.assertEqual((said["name"], said["sender"]), ("SIGABRT", os.getpid()))
        text = self.run_core(core).stdout.decode()
        self.assertIn(f"signal   SIGABRT, sent by process {os.getpid()}, in thread", text)
        self.assertIn(f"for a mutex that thread {run.pid} holds", text)

    def test_of_a_running_process_as_gdb_writes_it(self):
        gcore = self.need("gcore")
        run = self.start(live.workload("blocked", "still", 10))
        self.dump_until(run.pid, live_dump.is_resting, "its threads never all rest")
        done = subprocess.run([gcore, "-o", self.path("core"), str(run.pid)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        core = self.path(f"core.{run.pid}")
        if not os.path.exists(core):
            self.skipTest(f"gcore wrote none: {done.stderr.decode(errors='replace')[-200:]}")
        self.assert_known(run, self.dump_core(core))

    def test_without_the_program_it_is_said_and_with_it_named_all_is_there(self):
        program = self.compile("moved", "blocked.c", "-O2")
        run, core = self.core_of_killed([program, "still", "5"])
        os.rename(program, self.path("elsewhere"))
        dump = self.dump_core(core)
        self.assertEqual(dump["process"]["core"]["missing_files"], [program])
        self.assertIn(f"missing  {program} is not here", self.run_core(core).stdout.decode())
        self.assertTrue(any(thread["ending"] != "complete" for thread in dump["threads"]))
        self.assert_known(run, self.dump_core(core, self.path("elsewhere")))
        shutil.copy(live.workload("blocked")[0], program)
        self.assertIn("is another build here", self.run_core(core).stdout.decode())
        self.assert_refused(core, "is not the program of", program, options=[live.workload("blocked")[0]])
        self.assert_refused(core, "cannot be read", options=[self.path("nothing")])

    def test_without_any_file_nothing_is_made_up(self):
        run, core = self.core_of_killed(live.workload("blocked", "still", 5))
        dump = self.dump_core(core, "--root", self.path("empty"))
        self.assertEqual(len(dump["threads"]), 6)
        self.assertIn(live.workload("blocked")[0], dump["process"]["core"]["missing_files"])
        for thread in dump["threads"]:
            self.assertEqual([name for name in names(thread) if name in OURS], [])
            self.assertNotEqual(thread["ending"], "complete")
        root = self.path("root")
        for path in dump["process"]["core"]["missing_files"]:
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
        self.assert_known(run, self.dump_core(core, "--root", root))

    def test_one_that_is_cut_short_or_damaged_is_read_as_far_as_it_goes_or_refused(self):
        run, core = self.core_of_killed(live.workload("blocked", "still", 8))
        with open(core, "rb") as file:
            whole = file.read()
        chance = random.Random(17)
        cuts = [0, 3, 20, 64, 200, 1000, 5000, 20000, len(whole) // 2, len(whole) - 1]
        damages = [[(chance.randrange(min(len(whole), span)), chance.randrange(256)) for _ in range(40)]
                   for span in (64, 4000, 20000, len(whole)) for _ in range(6)]
        for cut, damage in [(cut, []) for cut in cuts] + [(len(whole), damage) for damage in damages]:
            bad = bytearray(whole[:cut])
            for at, byte in damage:
                bad[at] = byte
            with open(self.path("bad"), "wb") as file:
                file.write(bad)
            with self.subTest(cut=cut, damage=damage):
                done = self.run_core(self.path("bad"))
                self.assertIn(done.returncode, (0, FAILED), done.stderr)
                if done.returncode == FAILED:
                    self.assertRegex(done.stderr.decode(errors="replace"), r"\Afathom: [^\n]+\n\Z")
                elif cut < len(whole):
                    self.assertIn(f"cut      the core has {cut} of ".encode(), done.stdout)

    def test_what_is_no_core_of_this_machine_is_refused_in_a_sentence(self):
        program = live.workload("blocked")[0]
        with open(program, "rb") as file:
            head = bytearray(file.read(4096))
        head[16:18] = b"\4\0"  # ET_CORE
        foreign, narrow = bytearray(head), bytearray(head)
        foreign[18] = 183 if os.uname().machine == "x86_64" else 62
        narrow[4] = 1
        for name, content, words in (
                ("foreign", foreign, ("of a program for",)), ("narrow", narrow, ("32-bit",)), ("none", b"", ("not a core",)),
                ("text", b"hello, world\n", ("not a core",)), ("packed", b"\x28\xb5\x2f\xfd....", ("zstd -d",)),
                ("headless", head[:40], ("cut short",))):
            with self.subTest(name):
                with open(self.path(name), "wb") as file:
                    file.write(content)
                self.assert_refused(self.path(name), *words)
        self.assert_refused(program, "not a core file", "--core CORE")
        self.assert_refused(self.path("nothing"), "No such file")
        self.assert_refused("/tmp", "not a regular file")
        os.mkfifo(self.path("pipe"))
        self.assert_refused(self.path("pipe"), "not a regular file")

    def test_mistakes_of_the_command(self):
        for words in (["--core", "a", "b", "c"], ["--root", "/", "1"], ["--core"]):
            done = subprocess.run([live.FATHOM, "dump", *words], capture_output=True, timeout=300)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)


class Python(PythonTest, CoreTest):
    def assert_crash(self, python):
        folder = self.core_folder()
        program = self.write("crash.py", PYTHON)
        done = subprocess.run([python.path, program], cwd=folder, preexec_fn=allow_core, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, -signal.SIGSEGV, done.stderr)
        dump = self.dump_core(self.core_in(folder), "--locals")
        self.assertRegex(dump["process"]["python"], r"\A3\.\d+\.\d+")
        said = dump["process"]["core"]["signal"]
        self.assertEqual((said["name"], said["address"]), ("SIGSEGV", "0x40"))
        crashed, rested = dump["threads"]
        self.assertEqual((said["tid"], crashed["signal"]), (crashed["tid"], "SIGSEGV"))
        self.assertEqual(places(crashed, "python"), [("crash", 10), ("main", 13), ("<module>", 21)])
        # On a busy machine it is on its way to its sleep.
        rests = [place for place in places(rested, "python") if place[0] == "rest"]
        self.assertIn(rests[0], (("rest", 6), ("rest", 7)))
        self.assertEqual(rests[1:], 3 * [("rest", 5)])
        self.assertEqual([thread["ending"] for thread in dump["threads"]], ["complete", "complete"])
        address = [frame for frame in crashed["frames"] if frame["name"] == "crash"][0]["locals"]
        self.assertEqual(address, [{"name": "address", "value": "64"}])

    def test_the_crash_and_the_other_thread(self):
        self.on_each_python(self.assert_crash, oldest=(3, 6))

    def test_without_the_interpreters_file_it_says_so(self):
        python = self.need("/usr/bin/python3")
        run, core = self.core_of_killed([python, "-c", "print('ready', flush=True); import sys; sys.stdin.read()"])
        dump = self.dump_core(core, "--root", self.path("empty"))
        self.assertIsNone(dump["process"]["python"])
        self.assertIn("is not here", dump["process"]["python_why_not"])


class Ruby(live_ruby.RubyTest, CoreTest):
    def assert_threads(self, ruby):
        run, core = self.core_of_killed([ruby.path, "--disable-gems", self.write("rest.rb", RUBY)], signal.SIGXCPU)
        dump = self.dump_core(core)
        stacks = [[frame["name"].rpartition("#")[2] for frame in thread["frames"] if frame["language"] == "ruby"]
                  for thread in dump["threads"]]
        self.assertTrue(any(stack[-4:-1] == 3 * ["rest"] for stack in stacks), stacks)
        self.assertTrue(any(stack[-1:] == ["<main>"] and "read" in stack[0] for stack in stacks if stack), stacks)

    def test_its_threads_are_there(self):
        self.on_each_ruby(self.assert_threads)


if __name__ == "__main__":
    live.main()
