#!/usr/bin/env python3
"""Real programs are traced, and notice nothing: what they print, how they end, what they count themselves."""

import os
import re
import signal
import subprocess

import live
import live_trace

# One of each way that calls are traced, and the newest.
IN_CI = ("3.11", "3.12")


def of_version(python, programs):
    """All of them in the long tests; else every second on one version, and the others on the next."""
    return programs if live.IS_LONG else list(programs)[python.version[1] % 2::2]


COMMANDS = {
    "json.tool": ["-m", "json.tool", "numbers.json"],
    "pydoc": ["-m", "pydoc", "json.decoder"],
    "compileall": ["-m", "compileall", "-q", "-f", "compiled"],
    "unittest": ["-m", "unittest", "-q", "compiled.tested"],
    "tokenize": ["-m", "tokenize", "compiled/tested.py"],
    "pdb": ["-m", "pdb", "-c", "b leaf", "-c", "c", "-c", "p number", "-c", "r", "-c", "q", "compiled/tested.py"],
    "an exit code": ["-c", "import sys; sys.exit(3)"],
    "an exception": ["-c", "def f():\n    raise ValueError(1)\nf()"],
    "a recursion without an end": ["-c", "def f():\n    f()\nf()"],
    "a signal": ["-c", "import os; os.kill(os.getpid(), 15)"],
    "an abort": ["-c", "import os; os.abort()"],
    "an exit at once": ["-c", "import os; os._exit(7)"],
    "daemon threads": ["-c", "import threading, time\nfor _ in range(5):\n    threading.Thread(target=time.sleep, args=(60,),"
                       " daemon=True).start()"],
    "what is left for the end": ["-c", "import atexit, weakref\nclass A:\n    pass\na = A()\nweakref.finalize(a, print, 1)\n"
                                 "atexit.register(print, 2)"],
    "the debug allocators": ["-X", "dev", "-c", "import json, threading; print(json.loads('[1]'))"],
    "isolated": ["-I", "-S", "-c", "print(1)"],
    "input": ["-i", "-c", "print(1)"],
}
TESTED = """
import unittest

def leaf(number):
    return number + 1

class Tested(unittest.TestCase):
    def test(self):
        self.assertEqual(leaf(1), 2)
        with self.assertRaises(TypeError):
            leaf("")

leaf(1)
"""
# Some say how long they took, or where an object is.
VARYING = re.compile(rb"0x[0-9a-f]+|in \d+\.\d+s|\d{4}-\d\d-\d\d \d\d:\d\d")
# One that is killed as soon as it is there (a pool's worker, which may be forked just then) has nothing to trace.
KILLED = re.compile("it was killed at once|: no interpreter has run in it$")
ARTICLE = """
import math
import threading

class Worker(threading.Thread):
    def run(self):
        for i in range(100000):
            math.sin(i)

worker = Worker()
worker.start()
worker.join()
"""


class Programs(live_trace.TraceTest):
    def ended(self, run):
        status = run.returncode if run.returncode >= 0 else 128 - run.returncode
        return status, VARYING.sub(b"", run.stdout), VARYING.sub(b"", run.stderr)

    def check_unseen(self, python, arguments):
        """The same output and ending without us and with us; the trace."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "1"}
        bare = subprocess.run(python.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=self.folder, env=environment, check=False)
        trace = self.trace(python, *arguments, expect=None, env=environment)
        self.assertEqual(self.ended(trace.run), self.ended(bare))
        self.assertEqual([note for note in self.notes(trace) if not KILLED.search(note)], [])
        self.assertGreater(trace.head()["calls"], 0)
        report = trace.report()
        self.assertEqual(sum(row["self_ns"] for row in report["functions"]), report["total_ns"])
        return trace

    def test_programs_of_the_standard_library_notice_nothing(self):
        self.write("numbers.json", '{"a": [1, 2, {"b": null}]}')
        self.write("compiled/tested.py", TESTED)
        self.write("compiled/__init__.py", "")

        def check(python):
            for name in of_version(python, COMMANDS):
                with self.subTest(name):
                    self.check_unseen(python, COMMANDS[name])
        self.on_each_python(check, in_ci=IN_CI, oldest=(3, 7))

    def test_servers_pools_and_tasks_are_counted_as_they_count(self):
        def check(python):
            for part in of_version(python, ("asyncio", "threads", "fork", "spawn", "forkserver", "http", "forks", "database",
                                            "callbacks", "signals", "children")):
                with self.subTest(part):
                    trace = self.check_unseen(python, [self.workload("real.py"), part])
                    self.assertGreater(trace.truth["leaves"], 10)
                    self.assertEqual(trace.calls_of("leaf"), trace.truth["leaves"])
        self.on_each_python(check, in_ci=IN_CI, oldest=(3, 6))

    def test_the_worker_thread_of_the_article_is_listed_with_each_of_its_calls(self):
        def check(python):
            trace = self.trace(python, self.write("article/worker.py", ARTICLE))
            rows = {row["name"]: row for row in trace.report()["functions"]}
            run = next(row for name, row in rows.items() if name in ("Worker.run", "run") and row["file"].endswith("worker.py"))
            self.assertEqual((run["calls"], rows["math.sin"]["calls"]), (1, 100000))
            node = trace.report("--callers", "math.sin")["callers"]["nodes"][1]
            self.assertEqual((node["name"], node["total_calls"]), (run["name"], 100000))
            listed = subprocess.run([live.FATHOM, "report", trace.path], capture_output=True, timeout=300, check=True)
            self.assertRegex(listed.stdout.decode(), r"(?m)^ *100,000 .* math\.sin ")
            self.assertRegex(listed.stdout.decode(), r"(?m)^ *1 .* (Worker\.)?run +\S*worker\.py:6")
        self.on_each_python(check, in_ci=IN_CI, oldest=(3, 6))

    def test_tests_by_pytest_and_pages_by_flask_notice_nothing(self):
        python = next((found for found in self.interpreters if found.name.startswith("debian")))
        needed = subprocess.run(python.command("-c", "import pytest, flask"), capture_output=True, check=False)
        if needed.returncode != 0:
            self.skipTest("python3-pytest and python3-flask are not both installed")
        self.write("test_some.py", "import pytest\n@pytest.mark.parametrize('x', range(9))\ndef test(x):\n    assert x < 8\n")
        self.write("page.py", "import flask\napp = flask.Flask('x')\n@app.route('/<n>')\ndef page(n):\n"
                   "    return flask.render_template_string('{% for i in range(3) %}{{n}}{% endfor %}', n=n)\n"
                   "client = app.test_client()\nprint({client.get('/%d' % n).data for n in range(5)})\n")
        self.check_unseen(python, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_some.py"])
        trace = self.check_unseen(python, ["page.py"])
        self.assertEqual(trace.calls_of("page"), 5)


class Recorders(live_trace.TraceTest):
    def test_a_recorder_too_late_to_answer_lets_the_program_run_and_says_so(self):
        path = self.path("late.fathom")
        run = subprocess.Popen([live.FATHOM, "trace", "-q", "-o", path, "--", "sh", "-c",
                                'echo READY; read line; "$@"; echo DONE $?', "sh", *self.any_python("-c", "print(1)")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder, bufsize=0)
        self.addCleanup(run.stdout.close)
        self.assertEqual(run.stdout.readline(), b"READY\n")
        run.send_signal(signal.SIGSTOP)
        try:
            run.stdin.write(b"go\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"1\n")
        finally:
            run.send_signal(signal.SIGCONT)
        out, _ = run.communicate(timeout=300)
        self.assertEqual((run.returncode, out), (0, b"DONE 0\n"))
        self.assertIn("too late to answer", " ".join(self.notes(live_trace.Trace(path, run))))


if __name__ == "__main__":
    live.main()
