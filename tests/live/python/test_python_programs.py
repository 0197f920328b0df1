"""Python programs of many kinds: their names, lines, processes and interpreters, and real programs."""

import os
import subprocess
import textwrap
import time
import zipfile

import live
import live_python

# Each function lives for two milliseconds; the clocks of the recording and the program are set to one another.
CLOCKS_DIFFER_NS = 1000000
# One for each way that frames are chained, but for 3.11's, which other tests have.
IN_CHAINS = ("3.8", "3.12", "3.14")


class Names(live_python.PythonTest):
    compares_times = True

    def test_a_function_where_another_one_was_never_has_its_name(self):
        self.on_each_python(self.assert_lives)

    def assert_lives(self, python):
        recording = self.record_python(python, self.workload("made.py"), 1000)
        lives, stacks = recording.truth["lives"], live_python.PythonStacks(recording)
        self.assertGreater(recording.truth["counts"]["shared_addresses"], 0)
        start_ns = recording.head()["start_unix_ns"] - (time.time_ns() - time.monotonic_ns())
        right = 0
        for time_ns, _, stack, _ in recording.samples():
            for frame in stacks.walk(stack):
                if frame.name in lives:
                    begin, end = lives[frame.name]
                    self.assertTrue(begin - CLOCKS_DIFFER_NS <= start_ns + time_ns <= end + CLOCKS_DIFFER_NS,
                                    f"{frame.name} lived from {begin} to {end}, not at {start_ns + time_ns}")
                    number = int(frame.name.rpartition("_")[2])
                    # The source begins with a line for each number, and an empty one.
                    self.assertEqual((frame.path, frame.first_line), (f"<made {number}>", number + 2))
                    self.assertIn(frame.line, range(number + 2, number + 7))
                    right += 1
        self.assertGreater(right, 3300)

    def test_names_and_paths_are_right_that_are_not_ascii(self):
        self.on_each_python(self.assert_names, oldest=(3, 6), in_ci=IN_CHAINS)

    def assert_names(self, python):
        recording = self.record_python(python, self.workload("names.py"), 100, env={**os.environ, "LC_ALL": "C.UTF-8"})
        stacks = live_python.PythonStacks(recording)
        found = {(frame.name, frame.path) for frame in stacks.frames.values() if frame}
        for name, path in recording.truth["names"]:
            self.assertIn((name, os.fsdecode(bytes(path))), found)
        names = [row["plain_name"] for row in self.python_rows(recording)]
        for name, _ in recording.truth["names"]:
            self.assertIn(name, names)

    def test_functions_of_frozen_modules_have_their_names(self):
        self.on_each_python(self.assert_frozen, oldest=(3, 6), in_ci=live_python.DEBIAN)

    def assert_frozen(self, python):
        recording = self.record_python(python, "-c", "import json, asyncio, http.server")
        self.assertGreater(recording.time_of("_find_and_load", "total_ns"), 0)
        self.assertGreater(recording.time_of("import asyncio", "total_ns"), 0.1 * recording.total_ns())
        self.assertNotIn("_load_unlocked", [row["plain_name"] for row in self.python_rows(recording)])


class Shapes(live_python.PythonTest):
    """Of stacks and of interpreters."""

    compares_times = True

    def test_recursion_is_as_deep_as_it_is(self):
        self.on_each_python(lambda python: self.assert_depth(python, 900))

    def assert_depth(self, python, depth):
        recording = self.record_python(python, self.workload("deep.py"), 600, depth, rate=2000)
        stacks, counts = live_python.PythonStacks(recording), recording.truth["counts"]
        whole, total = {"bottom": 0, "bottom_of_c": 0}, 0
        for stack, ending, samples in recording.rows("SELECT stack, ending, count(*) FROM samples"
                                                     " GROUP BY stack, ending"):
            names = [frame.name for frame in stacks.walk(stack)]
            for bottom, descending in (("bottom", "descend"), ("bottom_of_c", "descend_through_c")):
                if bottom in names:
                    total += samples
                    above = names[names.index(bottom) + 1:]
                    if ending == 0:
                        self.assertEqual(above, [descending] * (counts[descending] + 1) + ["main", "<module>"])
                        whole[bottom] += samples
                    else:
                        self.assertEqual(set(above), {descending})
        self.assertGreater(total, 50)
        self.assertGreater(whole["bottom"] + whole["bottom_of_c"], 0.99 * total, recording.head()["stacks"])

    def test_what_is_too_deep_says_so_and_has_its_innermost_part(self):
        self.on_each_python(self.assert_too_deep, oldest=(3, 11), in_ci=("3.11", "3.14"))

    def assert_too_deep(self, python):
        recording = self.record_python(python, self.workload("deep.py"), 600, 8000, rate=1000)
        stacks = live_python.PythonStacks(recording)
        for stack, ending in recording.rows("SELECT DISTINCT stack, ending FROM samples"):
            names = [frame.name for frame in stacks.walk(stack)]
            if "bottom" in names:
                self.assertIn(ending, (0, 1))
                above = names[names.index("bottom") + 1:]
                self.assertEqual(set(above) - {"main", "<module>"}, {"descend"})
                self.assertGreater(len(above), 200)

    def test_work_in_sub_interpreters_is_seen(self):
        self.on_each_python(self.assert_sub_interpreters, oldest=(3, 8), in_ci=IN_CHAINS)

    def assert_sub_interpreters(self, python):
        recording = self.record_python(python, self.workload("subinterpreters.py"), 1000, rate=4000)
        self.assert_python_truth(recording, widest=0.04)

    def test_generators_and_tasks_stand_on_what_runs_them(self):
        recording = self.record(self.any_python("-c", textwrap.dedent("""
            def burn(n):
                while n:
                    n -= 1
            def produce():
                for _ in range(200):
                    burn(30000)
                    yield 1
            def consume():
                return sum(produce())
            consume()
            """)))
        under = 0
        for frames, ns in recording.folded():
            # "consume (<string>:9)"
            names = [frame.partition(" ")[0] for frame in frames]
            if "burn" in names:
                names = names[:names.index("burn")]
                under += ns if names[-1:] == ["produce"] and "consume" in names[:-1] else 0
        self.assertGreater(under, 0.99 * recording.time_of("burn", "total_ns"))


class Processes(live_python.PythonTest):
    compares_times = True

    def assert_way(self, python, way):
        recording = self.record_python(python, self.workload("processes.py"), way, rate=4000)
        self.assert_adds_up(recording)
        for name, spent_ns in recording.truth.items():
            seen_ns = sum(row["total_ns"] for row in self.python_rows(recording) if row["plain_name"] == name)
            jumped_ns = recording.jumped_share() * recording.total_ns()
            self.assertLess(abs(seen_ns - spent_ns), 0.05 * spent_ns + jumped_ns, f"{way}: {name}: {seen_ns} of {spent_ns}")

    def assert_all(self, way):
        self.on_each_python(lambda python: self.assert_way(python, way), oldest=(3, 6),
                            in_ci=IN_CHAINS if way == "fork" else live_python.DEBIAN)

    def test_forked_by_multiprocessing(self):
        self.assert_all("fork")

    def test_spawned_by_multiprocessing(self):
        self.assert_all("spawn")

    def test_of_a_fork_server(self):
        self.assert_all("forkserver")

    def test_of_subprocess(self):
        self.assert_all("subprocess")

    def test_that_execute_another(self):
        self.assert_all("exec")

    def test_of_a_prefork_server(self):
        self.assert_all("prefork")


BURN = textwrap.dedent("""
    def burn(turns):
        while turns:
            turns -= 1
    burn(6000000)
    """)


class Starts(live_python.PythonTest):
    """However a program is started."""

    compares_times = True

    def assert_burn(self, recording, file):
        row = next(row for row in self.python_rows(recording) if row["name"] == "burn")
        self.assertGreater(row["total_ns"], 0.5 * recording.total_ns())
        self.assertEqual(row["file"], file)
        self.assertEqual(row["line"], 2)

    def test_from_the_command_line(self):
        self.assert_burn(self.record(self.any_python("-c", BURN)), "<string>")

    def test_from_standard_input(self):
        self.write("program.py", BURN)
        shell = f"exec {' '.join(self.any_python())} < program.py"
        self.assert_burn(self.record(["sh", "-c", shell]), "<stdin>")

    def test_as_a_module(self):
        self.write("burning.py", BURN)
        self.assert_burn(self.record(self.any_python("-m", "burning")), self.path("burning.py"))

    def test_from_an_archive(self):
        with zipfile.ZipFile(self.path("program.pyz"), "w") as archive:
            archive.writestr("__main__.py", BURN)
        self.assert_burn(self.record(self.any_python("program.pyz")), self.path("program.pyz") + "/__main__.py")

    def test_from_a_virtual_environment(self):
        self.write("program.py", BURN)
        made = subprocess.run(self.any_python("-m", "venv", "--without-pip", self.path("env")), capture_output=True)
        if made.returncode != 0:
            self.skipTest(f"no virtual environment can be made: {made.stderr.decode()[-100:]}")
        recording = self.record([self.path("env/bin/python"), "program.py"])
        self.assert_burn(recording, self.path("program.py"))

    def test_with_an_interpreter_in_another_program(self):
        """gdb has libpython in it."""
        gdb = self.need("gdb")
        asked = subprocess.run([gdb, "-nx", "-batch", "-ex", "python print(1)"], capture_output=True)
        if asked.stdout != b"1\n":
            self.skipTest("this gdb has no Python")
        self.write("program.py", BURN)
        recording = self.record([gdb, "-nx", "-batch", "-x", "program.py"])
        row = next(row for row in self.python_rows(recording) if row["name"] == "burn")
        self.assertGreater(row["total_ns"], 0.3 * recording.total_ns())


class Lines(live_python.PythonTest):
    compares_times = True

    def listing(self, recording, function, *options):
        return subprocess.run([live.FATHOM, "report", recording.path, "--lines", function, *options],
                              capture_output=True, check=True).stdout.decode()

    def test_an_annotated_listing_has_the_source_and_the_time_of_its_lines(self):
        recording = self.record(self.any_python(self.workload("shares.py"), 1000))
        text = self.listing(recording, "three_lines")
        for line in ("while first < units: first += 1", "while third < 3 * units: third += 1"):
            self.assertIn(line, text)
        truth = recording.truth
        for line, spent_ns in truth["lines"].items():
            row = next(row for row in recording.report("--by", "line")["lines"]
                       if row["line"] == int(line) and row["name"] == "three_lines")
            self.assert_share(row["self_ns"] / recording.total_ns(), spent_ns / truth["cpu_ns"], 0.025, line)

    def test_a_call_over_several_lines_is_at_the_line_that_calls(self):
        with open(self.path("program.py"), "w") as file:
            file.write(textwrap.dedent("""\
                def burn(n):
                    while n: n -= 1
                    return n


                def several(n):
                    return [
                        burn(n),
                        burn(2 *
                             n),
                    ]


                for turn in range(400):
                    several(15000)
                """))
        recording = self.record(self.any_python("program.py"))
        stacks = live_python.PythonStacks(recording)
        at = {}
        for stack, samples in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            frames = list(stacks.walk(stack))
            if frames and frames[0].name == "burn":
                self.assertEqual(frames[1].name, "several")
                at[frames[1].line] = at.get(frames[1].line, 0) + samples
        self.assertEqual(set(at), {8, 9})
        self.assertLess(abs(at[9] / at[8] - 2), 0.3)


class Real(live_python.PythonTest):
    """Programs that others wrote: whole stacks, and the functions that everybody knows they run."""

    compares_times = True

    def assert_runs(self, recording, *names, least=0.99):
        self.assert_adds_up(recording)
        endings = recording.head()["stacks"]
        self.assertGreaterEqual(endings.get("complete", 0), least * sum(endings.values()), endings)
        seen = {row["name"]: row["total_ns"] for row in self.python_rows(recording)}
        for name in names:
            # That it is there: of the shortest, 1 % would be five samples.
            self.assertGreater(seen.get(name, 0), 0.003 * recording.total_ns(), f"{name} of {sorted(seen)[:40]}")

    def module(self, name):
        command = self.any_python("-c", f"import {name}")
        if subprocess.run(command, capture_output=True).returncode != 0:
            self.skipTest(f"Debian's python3 has no {name}")

    def test_compileall(self):
        folder = self.path("json")
        copied = subprocess.run(self.any_python("-c", "import json, shutil, sys;"
                                "shutil.copytree(json.__path__[0], sys.argv[1])", folder), check=True)
        self.assertEqual(copied.returncode, 0)
        recording = self.record(self.any_python("-m", "compileall", "-q", "-f", folder, "-j", "1"))
        self.assert_runs(recording, "compile_dir", "compile_file", "compile")

    def test_json_and_xml(self):
        self.assert_runs(self.record(self.any_python("-c", textwrap.dedent("""
            import json
            import xml.dom.minidom
            text = json.dumps([{"name": str(n), "values": list(range(n % 50))} for n in range(3000)], indent=1)
            for _ in range(3):
                json.loads(text, parse_float=float, object_hook=lambda pairs: pairs)
            document = "<all>" + "<one a='b'>text</one>" * 6000 + "</all>"
            xml.dom.minidom.parseString(document).toprettyxml()
            """))), "dumps", "loads", "parseString", "Node.toprettyxml")

    def test_an_asyncio_server(self):
        self.assert_runs(self.record(self.any_python("-c", textwrap.dedent("""
            import asyncio

            async def answer(reader, writer):
                while line := await reader.readline():
                    writer.write(shout(line))
                    await writer.drain()
                writer.close()

            def shout(line):
                for _ in range(20):
                    words = sorted(line.upper().split(), key=len)
                return b" ".join(words[:40]) + b"\\n"

            async def ask(port):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                for _ in range(700):
                    writer.write(b"word " * 50 + b"\\n")
                    await reader.readline()
                writer.close()

            async def main():
                server = await asyncio.start_server(answer, "127.0.0.1", 0)
                port = server.sockets[0].getsockname()[1]
                await asyncio.gather(*(ask(port) for _ in range(4)))
                server.close()

            asyncio.run(main())
            """))), "answer", "shout", "BaseEventLoop.run_forever")

    def test_bottle_serving_requests(self):
        self.module("bottle")
        self.assert_runs(self.record(self.any_python("-c", textwrap.dedent("""
            import threading
            import urllib.request
            import wsgiref.simple_server
            import bottle

            @bottle.route("/hello/<name>")
            def hello(name):
                return bottle.template("<b>{{name}}</b>\\n% for i in range(50):\\n{{i}}\\n% end\\n", name=name)

            class Quiet(wsgiref.simple_server.WSGIRequestHandler):
                def log_request(self, *arguments):
                    pass

            server = wsgiref.simple_server.make_server("127.0.0.1", 0, bottle.default_app(), handler_class=Quiet)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for turn in range(300):
                urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/hello/{turn}").read()
            """))), "hello", "Bottle.wsgi", "template", least=0.98)

    def test_flask_answering_requests(self):
        self.module("flask")
        self.assert_runs(self.record(self.any_python("-c", textwrap.dedent("""
            import flask
            app = flask.Flask("app")

            @app.route("/hello/<name>")
            def hello(name):
                return flask.render_template_string("<b>{{ name|upper }}</b>{% for i in r %}{{ i }}{% endfor %}",
                                                    name=name, r=range(30))

            client = app.test_client()
            for turn in range(250):
                assert client.get(f"/hello/{turn}").status_code == 200
            """))), "hello", "Flask.wsgi_app", "render_template_string")

    def test_numpy(self):
        self.module("numpy")
        recording = self.record(self.any_python("-c", textwrap.dedent("""
            import numpy

            def sort_much():
                for _ in range(30):
                    numpy.sort(numpy.random.rand(200000))

            def multiply():
                a = numpy.random.rand(200, 200)
                for _ in range(20):
                    a = numpy.tanh(a @ a)

            sort_much()
            multiply()
            """)))
        self.assert_runs(recording, "sort_much", "multiply")
        # An extension's own functions stay where they are.
        native = sum(ns for frames, ns in recording.folded()
                     if frames[-1].startswith(("_multiarray_umath", "_mtrand", "_generator", "mtrand")))
        self.assertGreater(native, 0.2 * recording.total_ns())


if __name__ == "__main__":
    live.main()
