#!/usr/bin/env python3
"""A trace with a budget (--overhead): beyond it calls are left out for a while, and the report says so."""

import re
import subprocess

import live
import live_trace
import live_trace_ruby

LEAVES = 500
# Each prints how often it called mid(), which calls leaf() so often, and rec(), in about two seconds.
PYTHON = """
import time
def leaf(x):
    return x + 1
def rec(n):
    return 1 if n < 2 else rec(n - 1) + rec(n - 2)
def numbers(n):
    for i in range(n):
        yield i
def fail(n):
    if n == 0:
        raise ValueError
    fail(n - 1)
def mid(n):
    for i in numbers(n):
        leaf(i)
    try:
        fail(3)
    except ValueError:
        pass
    rec(5)
def main():
    end, turns = time.monotonic() + 2, 0
    while time.monotonic() < end:
        mid(%d)
        turns += 1
    print(turns)
main()
""" % LEAVES
RUBY = """
def leaf(x) = x + 1
def rec(n) = n < 2 ? 1 : rec(n - 1) + rec(n - 2)
def fail_at(n)
  raise ArgumentError if n == 0
  fail_at(n - 1)
end
def mid(n)
  i = 0
  while i < n
    leaf(i)
    i += 1
  end
  begin
    fail_at(3)
  rescue ArgumentError
  end
  Fiber.new { rec(3) }.resume
  rec(5)
end
stop, turns = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 2, 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
  mid(%d)
  turns += 1
end
puts turns
""" % LEAVES
C = """
#include <setjmp.h>
#include <stdio.h>
#include <time.h>
static volatile int sink;
static jmp_buf out;
__attribute__((noinline)) void leaf(int i) { sink += i; }
__attribute__((noinline)) int rec(int n) { return n < 2 ? 1 : rec(n - 1) + rec(n - 2); }
__attribute__((noinline)) void fail(int n) { if (n == 0) longjmp(out, 1); fail(n - 1); sink++; }
__attribute__((noinline)) void mid(int n) { for (int i = 0; i < n; i++) leaf(i); if (!setjmp(out)) fail(3); sink += rec(5); }
int main(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const time_t end = now.tv_sec + 2;
	int turns = 0;
	for (; now.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &now), turns++)
		mid(%d);
	printf("%%d\\n", turns);
}
""" % LEAVES


class Limit:
    """Beside a live_trace.Tracing."""

    def limited(self, command, budget="1%", fathom=live.FATHOM):
        path = self.path("limited.fathom")
        run = subprocess.run([fathom, "trace", "-q", "-o", path, "--overhead", budget, "--", *command], cwd=self.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return self.opened(path, run)

    def assert_limited(self, trace, recs=15):
        """Fewer calls than there were, in the proportions that they had, but for those under way when it was paused."""
        notes = [note for note in self.all_notes(trace) if "--overhead" in note]
        self.assertEqual(len(notes), 1, notes)
        found = re.search(r"paused tracing (\d+) times?: traced ([0-9.]+) of ([0-9.]+) s .*that part only", notes[0])
        self.assertTrue(found, notes)
        pauses, traced, life = int(found.group(1)), float(found.group(2)), float(found.group(3))
        self.assertGreater(life, traced)
        turns = int(trace.run.stdout)
        mid, leaf, rec = (self.calls(trace, name) for name in ("mid", "leaf", "rec"))
        self.assertGreater(mid, 0)
        self.assertLess(mid, turns)
        # At each pause and behind each a turn may be counted in part.
        self.assertLessEqual(abs(leaf - LEAVES * mid), 2 * LEAVES * pauses, (leaf, mid, pauses))
        self.assertLessEqual(abs(rec - recs * mid), 2 * recs * pauses, (rec, mid, pauses))
        shown = subprocess.run([live.FATHOM, "report", "--no-pager", trace.path], capture_output=True, text=True, check=True).stdout
        self.assertIn("paused tracing: traced", re.sub(r"\s+", " ", shown))

    @staticmethod
    def calls(trace, name):
        return sum(row["calls"] for row in trace.report()["functions"] if re.split(r"[.#]", row["name"])[-1] == name)


class LimitOfPython(Limit, live_trace.TraceTest):
    def test_python(self):
        def check(python):
            trace = self.limited(python.command(self.write("limited.py", PYTHON)), fathom=self.fathom_for(python))
            self.assert_limited(trace)
        self.on_each_python(check, oldest=(3, 6), in_ci=("3.8", "3.11", "3.14"))


class LimitOfRuby(Limit, live_trace_ruby.RubyTraceTest):
    def test_ruby(self):
        def check(ruby):
            trace = self.limited(ruby.command(self.write("limited.rb", RUBY)), fathom=self.fathom_for(ruby))
            self.assert_limited(trace, recs=15 + 5)
        self.on_each_ruby(check, oldest=(3, 0), in_ci=("3.1",))


class LimitOfCompiled(Limit, live_trace.TraceTest):
    def build(self, flags):
        program = self.path("limited")
        subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", *flags, self.write("limited.c", C), "-o", program], check=True)
        return program

    def test_compiled(self):
        for flags in (["-finstrument-functions"], ["-pg"], ["-pg", "-mfentry"]):
            with self.subTest(flags=flags):
                program = self.build(flags)
                trace = self.limited([program])
                self.assert_limited(trace)

    def test_a_budget_that_is_kept_changes_nothing(self):
        trace = self.limited(["sh", "-c", "exit 0"], budget="50%")
        self.assertEqual([note for note in self.all_notes(trace) if "--overhead" in note], [])


if __name__ == "__main__":
    live.main()
