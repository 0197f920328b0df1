#!/usr/bin/env python3
"""A trace of some functions only: their counts are those of a trace of all, and no time is lost."""

import collections
import subprocess

import live
import live_reports
import live_trace


JSON_FILES = {"decoder.py", "encoder.py", "scanner.py"}


class Only(live_reports.ReportChecks, live_trace.TraceTest):
    def counts(self, trace):
        """{(file's last part, name): calls} of the report."""
        counts = collections.Counter()
        for row in trace.report()["functions"]:
            if row["calls"]:
                counts[(row["file"] or "~").rpartition("/")[2], row["name"]] += row["calls"]
        return counts

    def both(self, python, program, *patterns):
        path = self.workload(program)
        # Once before: what is compiled is so for both.
        subprocess.run(python.command(path), check=True, stdout=subprocess.DEVNULL, cwd=self.folder, timeout=120)
        every = self.trace(python, path, name="every.fathom")
        options = [word for pattern in patterns for word in ("--only", pattern)]
        some = self.trace(python, path, options=options, name="some.fathom")
        self.assertEqual(self.notes(some), self.notes(every))
        self.assertEqual(some.head()["only"], list(patterns))
        self.assertIsNone(every.head()["only"])
        return self.counts(every), self.counts(some), some

    def test_a_files_functions_are_counted_as_in_a_trace_of_all(self):
        def check(python):
            every, some, trace = self.both(python, "every_call.py", "every_call.py")
            self.assertEqual(some, {key: calls for key, calls in every.items() if key[0] == "every_call.py"})
            self.assertGreater(len(some), 20)
            self.assertEqual(trace.head()["calls"], sum(some.values()))
        self.on_each_python(check, oldest=(3, 6))

    def test_patterns_are_of_names_and_of_modules(self):
        def check(python):
            every, some, _ = self.both(python, "every_call.py", "factorial", "is_*", "json.*", "math.floor")
            wanted = {key: calls for key, calls in every.items()
                      if key[1] in ("factorial", "math.floor") or key[1].rpartition(".")[2].startswith("is_")
                      or key[0] in JSON_FILES}
            # json's own is called as other packages' files are.
            self.assertEqual({key: calls for key, calls in some.items() if key[0] != "__init__.py"},
                             {key: calls for key, calls in wanted.items() if key[0] != "__init__.py"})
            self.assertGreater(some["every_call.py", "factorial"], 1)
            self.assertGreater(some["every_call.py", "is_even"], 1)
            self.assertTrue({key[0] for key in some} & JSON_FILES, sorted(some))
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.14"), oldest=(3, 6))

    def test_the_time_of_what_is_left_out_is_its_callers(self):
        script = ("import time\n\ndef work():\n    inner()\n\ndef inner():\n    time.sleep(0.1)\n\n"
                  "def other():\n    time.sleep(0.05)\n\nwork()\nother()\n")

        def check(python):
            trace = self.trace(python, self.write("sleeps.py", script), options=("--only", "work"))
            report = trace.report()
            rows = {row["name"]: row for row in report["functions"]}
            self.assertEqual(set(rows), {"work", "[outside of traced calls]"})
            self.assertGreaterEqual(rows["work"]["self_ns"], 99000000)
            self.assertGreaterEqual(rows["[outside of traced calls]"]["self_ns"], 49000000)
            self.assertEqual(rows["work"]["calls"], 1)
            self.assertEqual(sum(row["self_ns"] for row in rows.values()), report["total_ns"])
        self.on_each_python(check, oldest=(3, 6))

    def test_from_3_12_on_the_interpreter_sends_no_events_of_what_is_not_wanted(self):
        def check(python):
            path = self.workload("every_call.py")
            every = self.trace(python, path, options=("--no-builtins",), name="every.fathom")
            some = self.trace(python, path, options=("--no-builtins", "--only", "factorial"), name="some.fathom")
            count = "SELECT sum(calls) FROM calls"
            factorials = some.calls_of("factorial")
            self.assertEqual(factorials, every.calls_of("factorial"))
            self.assertEqual(some.rows(count), [(factorials,)])
            self.assertGreater(every.rows(count)[0][0], factorials)
        self.on_each_python(check, in_ci=("3.12", "3.14"), oldest=(3, 12))

    def test_a_pattern_that_nothing_matches_is_reported(self):
        def check(python):
            trace = self.trace(python, self.workload("every_call.py"), options=("--only", "nothing_is_called_so"))
            self.assertIn("no function that was called has such a name or file", " ".join(self.text(trace).split()))
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 6))

    def trace_command(self, command, *patterns):
        options = [word for pattern in patterns for word in ("--only", pattern)]
        run = subprocess.run([live.FATHOM, "trace", "-q", "-o", self.path("any.fathom"), *options, "--", *command],
                             capture_output=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return live_trace.Trace(self.path("any.fathom"), run)

    def test_it_is_the_same_for_native_functions(self):
        self.need("gcc")
        source = ("#include <stdio.h>\n__attribute__((noinline)) int leaf(int i) { return i & 3; }\n"
                  "static __attribute__((noinline)) int work(int n)\n"
                  "{ int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }\n"
                  "int main(void) { printf(\"%d\\n\", work(1000)); return 0; }\n")
        with open(self.path("small.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["gcc", "-O1", "-g", "-finstrument-functions", "-o", self.path("small"), self.path("small.c")],
                       check=True, timeout=300)
        self.assertEqual(self.counts(self.trace_command([self.path("small")], "leaf")), {("small.c", "leaf"): 1000})
        some = self.trace_command([self.path("small")], "wor?")
        self.assertEqual(self.counts(some), {("small.c", "work"): 1})
        self.assertEqual({row["name"] for row in some.report()["functions"]}, {"work", "[outside of traced calls]"})
        every = self.counts(self.trace_command([self.path("small")], "small.c"))
        self.assertEqual(every, {("small.c", "leaf"): 1000, ("small.c", "work"): 1, ("small.c", "main"): 1})

    def test_it_is_the_same_for_ruby(self):
        self.need("ruby")
        with open(self.path("small.rb"), "w", encoding="utf-8") as file:
            file.write("class Foo\n  def bar(n)\n    n.times { |i| baz(i) }\n  end\n"
                       "  def baz(i)\n    Math.sin(i)\n  end\nend\nFoo.new.bar(200)\n")
        some = self.trace_command(["ruby", self.path("small.rb")], "Foo#*")
        self.assertEqual(self.counts(some), {("small.rb", "Foo#bar"): 1, ("small.rb", "Foo#baz"): 200})
        some = self.trace_command(["ruby", self.path("small.rb")], "baz", "Math.sin")
        self.assertEqual({name: calls for (_, name), calls in self.counts(some).items()},
                         {"Foo#baz": 200, "Math.sin": 200})

    def test_patterns_have_bounds(self):
        for options, sentence in (
                (("--only", ""), "option '--only' takes a pattern, not ''"),
                (("--only", "x" * 5000), "option '--only': the patterns have more than 4094 bytes together"),
                (("--only", "x" * 3000, "--only", "y" * 1200),
                 "option '--only': the patterns have more than 4094 bytes together")):
            run = subprocess.run([live.FATHOM, "trace", *options, "true"], capture_output=True, timeout=300)
            self.assertEqual(run.returncode, 125)
            self.assertIn(sentence, run.stderr.decode())


if __name__ == "__main__":
    live.main()
