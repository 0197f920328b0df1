"""Python's stacks from outside: every thread, with lines, on each version."""

import os
import signal

import live
import live_dump
import live_python
from live_dump import is_resting, names, places

PROGRAM = """\
import sys, threading, time
first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)

def take(one, other):
    with one:
        both.wait()
        with other:
            pass

def down(n):
    if n > 0:
        return down(n - 1)
    return sum(rest() for _ in range(1))

def rest():
    time.sleep(1000)

for target, arguments in ((take, (first, second)), (take, (second, first)), (down, (5,))):
    thread = threading.Thread(target=target, args=arguments)
    thread.daemon = True
    thread.start()
print("ready")
sys.stdout.flush()
sys.stdin.read()
"""
THREADS = {
    "the first": [("<module>", 25)],
    "a lock": [("take", 8)],
    "another": [("take", 8)],
    "asleep": [("rest", 17), ("down.<locals>.<genexpr>", 14), ("down", 14)] + 5 * [("down", 13)],
}


VARIABLES = """\
import sys

class Thing(object):
    pass

def hold(number, *rest, **named):
    none, yes, no, negative, large = None, True, False, -12345678901, 2 ** 70
    tenth, whole = 0.1, 3.0
    text, wide, raw = "it's\\nhere", "gr\\u00fc\\u00dfe \\u20ac \\U0001f600", b"\\x00ab"
    one, pair, mixed = (1,), (1, 2), {"k": [1], 2: ("x", None)}
    members, empty, long, words = {"x"}, [], list(range(100)), "x" * 500
    circle = [1]
    circle.append(circle)
    thing, kind, builtin = Thing(), Thing, dict
    print("ready")
    sys.stdout.flush()
    sys.stdin.read()

hold(42, "more", key=4)
"""
PREFORK = """\
import os, socket, sys

def serve(listener):
    while True:
        listener.accept()

def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(5)
    children = []
    for _ in range(3):
        children.append(os.fork() or serve(listener))
    print(*children, flush=True)
    sys.stdin.read()

main()
"""
SHOWN = {
    "number": "42", "rest": "('more',)", "named": "{'key': 4}", "none": "None", "yes": "True", "no": "False",
    "negative": "-12345678901", "large": str(2 ** 70), "tenth": "0.1", "whole": "3.0", "text": "'it\\'s\\nhere'",
    "wide": "'grüße € 😀'", "raw": "b'\\x00ab'", "one": "(1,)", "pair": "(1, 2)",
    "mixed": "{'k': [1], 2: ('x', None)}", "members": "{'x'}", "empty": "[]",
    "long": "[0, 1, 2, 3, 4, 5, 6, 7, …]", "words": "'" + 60 * "x" + "…'",
    "kind": "<class Thing>", "builtin": "<class dict>",
}


def plain(place):
    """Up to 3.10 code has no qualified name."""
    return place[0].rpartition(".")[2], place[1]


# Its threads begin when nothing else wants the processor, which something does: until then each has a state in the
# interpreter, made by its maker and up to 3.11 with that one's number.
MAKER = """\
import os, sys, threading
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        pass
    os._exit(0)
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
def makes():
    while True:
        threading.Thread(target=int).start()
print("ready")
sys.stdout.flush()
makes()
"""


class Python(live_python.PythonTest, live_dump.DumpTest):
    def own(self, thread, program):
        return [plain((frame["name"], frame["line"])) for frame in thread["frames"]
                if frame["file"] == program]

    def assert_stacks_are_there(self, python):
        program = self.write("locks.py", PROGRAM)
        run = self.start([python.path, program])
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and all(
            any(frame["language"] == "python" for frame in thread["frames"])
            for thread in dump["threads"]), "its threads do not come to rest")
        self.assertEqual(len(dump["threads"]), 4)
        found = sorted(self.own(thread, program) for thread in dump["threads"])
        self.assertEqual(found, sorted([plain(place) for place in places] for places in THREADS.values()))
        for thread in dump["threads"]:
            self.assertEqual(thread["ending"], "complete", thread)
            self.assertFalse(thread["holds_gil"], thread)
            innermost = self.own(thread, program)[0]
            self.assertEqual(thread["waits_for_python_lock"], innermost == ("take", 8), thread)

    def test_a_deadlock_of_two_locks_and_a_generator_asleep(self):
        self.on_each_python(self.assert_stacks_are_there, oldest=(3, 6), in_ci=live_python.EACH_LAYOUT)

    def assert_c_functions_have_names(self, python):
        run = self.start([python.path, self.write("rests.py", "import sys, threading, time\n"
                                                  "held = threading.Lock()\nheld.acquire()\ndef take():\n    held.acquire()\n"
                                                  "def rest(_):\n    time.sleep(600)\n"
                                                  "threading.Thread(target=take, daemon=True).start()\n"
                                                  "print('ready')\nsys.stdout.flush()\nsorted([1], key=rest)\n")])
        wanted = [["_thread.lock.acquire", "take"], ["time.sleep", "rest", "builtins.sorted", "<module>"]]
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and len(dump["threads"]) == 2 and all(
            names(thread, "python")[1:] for thread in dump["threads"]), "its threads do not come to rest")
        for thread, expected in zip(sorted(dump["threads"], key=lambda thread: names(thread, "python")), wanted):
            self.assertEqual(names(thread, "python")[:len(expected)], expected)
            self.assertIsNone(thread["frames"][names(thread).index(expected[0])]["file"])

    def test_c_functions_have_the_names_that_python_has_for_them(self):
        self.on_each_python(self.assert_c_functions_have_names, oldest=(3, 6))

    def assert_holder_is_marked(self, python):
        # A thread that waits while it holds the GIL: a C function that does not release it.
        program = self.write("holder.py", "import ctypes, sys, threading\n"
                             "def other():\n    sys.stdin.read()\n"
                             "def hold():\n    ctypes.PyDLL(None).pause()\n"
                             "threading.Thread(target=other).start()\nprint('ready')\nsys.stdout.flush()\nhold()\n")
        run = self.start([python.path, program])
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and any(
            ("hold", 5) in places(thread, "python") for thread in dump["threads"]), "it does not pause")
        holders = [places(thread, "python") for thread in dump["threads"] if thread["holds_gil"]]
        self.assertEqual(holders, [[("hold", 5), ("<module>", 9)]])

    def test_the_thread_that_holds_the_gil_is_marked(self):
        self.on_each_python(self.assert_holder_is_marked, oldest=(3, 6))

    def assert_callers_are_there(self, python):
        program = self.write("busy.py", "import sys\n"
                             "def inner():\n    while True:\n        sum(i for i in range(100))\n"
                             "def outer():\n    inner()\n"
                             "print('ready')\nsys.stdout.flush()\nouter()\n")
        run = self.start([python.path, program])
        # What is innermost changes while it is read; what called it does not.
        dump = self.dump_until(run.pid, lambda dump: places(dump["threads"][0], "python")[-3:] == [
            ("inner", 4), ("outer", 6), ("<module>", 9)], "its callers are never there")
        thread = dump["threads"][0]
        self.assertIn(thread["trust"], ("copied", "agreed", "doubtful"))
        self.assertEqual(any(frame["is_doubtful"] for frame in thread["frames"]), thread["trust"] == "doubtful")

    def test_a_thread_that_runs_has_its_callers(self):
        self.on_each_python(self.assert_callers_are_there, oldest=(3, 6))

    def assert_long_call_is_believed(self, python):
        program = self.write("long.py", "import sys\ndef inner():\n    while True:\n        sorted(range(9000000))\n"
                             "def outer():\n    inner()\nprint('ready')\nsys.stdout.flush()\nouter()\n")
        run = self.start([python.path, program])
        dump = self.dump_until(run.pid, lambda dump: dump["threads"][0]["trust"] in ("copied", "agreed") and places(
            dump["threads"][0], "python") == [("inner", 4), ("outer", 6), ("<module>", 9)], "it is never believed")
        self.assertIsNone(dump["threads"][0]["why_doubtful"])

    def test_a_thread_in_a_long_call_is_believed_though_it_runs(self):
        self.on_each_python(self.assert_long_call_is_believed, oldest=(3, 6))

    def assert_pairs_are_possible(self, python):
        source = ["def top():\n    while True:\n" + "".join(f"        mid_{k}({k})\n" for k in range(4))]
        for k in range(4):
            source.append(f"def mid_{k}(n):\n    if n: return mid_{k}(n - 1)\n    leaf_{k}(n)\n    under_{k}(n)\n"
                          f"def leaf_{k}(n):\n    return under_{k}(n)\n"
                          f"def under_{k}(n):\n    for i in range(5): n += i\n    return n\n")
        program = self.write("graph.py", "import sys\n" + "".join(source) + "print('ready')\nsys.stdout.flush()\ntop()\n")
        callees = {"<module>": ("top",), "top": tuple(f"mid_{k}" for k in range(4))}
        for k in range(4):
            callees.update({f"mid_{k}": (f"mid_{k}", f"leaf_{k}", f"under_{k}"), f"leaf_{k}": (f"under_{k}",)})
        run = self.start([python.path, program])
        for _ in range(400 if live.IS_LONG else 20):
            thread, = self.dump(run.pid)["threads"]
            sure = [frame["name"] for frame in thread["frames"]
                    if frame["language"] == "python" and not frame["is_doubtful"]]
            for inner, outer in zip(sure, sure[1:]):
                self.assertIn(inner, callees.get(outer, ()), thread)

    def test_frames_that_are_not_marked_are_of_calls_that_are_possible(self):
        self.on_each_python(self.assert_pairs_are_possible, oldest=(3, 6))

    def assert_locals_are_shown(self, python):
        program = self.write("variables.py", VARIABLES)
        run = self.start([python.path, program])
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and any(
            name == "hold" for name, _ in places(dump["threads"][0], "python")), "it does not come to rest", "--locals")
        frame = next(frame for frame in dump["threads"][0]["frames"] if frame["name"] == "hold")
        found = {local["name"]: local["value"] for local in frame["locals"]}
        for name, value in SHOWN.items():
            self.assertEqual(found.get(name), value, (name, found))
        self.assertRegex(found["thing"], "^<Thing at 0x[0-9a-f]+>$")
        self.assertRegex(found["circle"], r"^\[1, \[1, \[1, <list at 0x[0-9a-f]+>\]\]\]$")
        self.assertLess(max(map(len, found.values())), 1000)
        self.assertIn("number = 42", self.dump_run(run.pid, "--locals").stdout.decode())
        self.assertNotIn("number = 42", self.dump_run(run.pid).stdout.decode())

    def test_local_variables_are_shown_by_what_they_hold(self):
        self.on_each_python(self.assert_locals_are_shown, oldest=(3, 6), in_ci=live_python.EACH_LAYOUT)

    def assert_maker_is_shown(self, python):
        run = self.start(python.command(self.write("maker.py", MAKER)))
        for _ in range(5):
            self.dump_until(run.pid, lambda dump: len(dump["threads"]) > 1 and [
                name.rpartition(".")[2] for name, _ in places(dump["threads"][0], "python")][-3:] == [
                    "start", "makes", "<module>"], "the maker of a thread has no frames")

    def test_a_thread_that_has_not_begun_hides_not_its_maker(self):
        self.on_each_python(self.assert_maker_is_shown, oldest=(3, 6))

    def test_each_process_of_a_server_that_forks_its_workers(self):
        python = next(found for found in self.interpreters if found.name == "debian-3.11")
        if not python.is_there:
            self.skipTest(python.why_not)
        run = self.start([python.path, self.write("server.py", PREFORK)])
        workers = list(map(int, run.first_line.split()))
        for worker in workers:
            self.addCleanup(os.kill, worker, signal.SIGKILL)
        self.assertEqual(len(workers), 3)
        for worker in workers:
            dump = self.dump_until(worker, lambda dump: [name for name, _ in places(
                dump["threads"][0], "python")][-3:] == ["serve", "main", "<module>"], "a worker does not accept")
            self.assertIn("accept4(port ", dump["threads"][0]["wait"])
        dump = self.dump_until(run.pid, lambda dump: ("main", 15) in places(dump["threads"][0], "python"),
                               "the first process does not read")
        self.assertEqual(len(dump["threads"]), 1)


if __name__ == "__main__":
    live.main()
