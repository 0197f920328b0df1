"""Regions on the wall clock: what a thread waits for in a region is the region's, in each language."""

import os
import subprocess

import live
import live_python
import live_ruby

SHARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../share")
MS = 1_000_000

PYTHON = """
import fathom, json, os, threading, time
r, w = os.pipe()
took = {}
asks = threading.Semaphore(0)
def request():
    begin = time.monotonic()
    with fathom.region("request"):
        end = time.thread_time() + 0.06
        while time.thread_time() < end:
            pass
        with fathom.region("query"):
            asks.release()
            os.read(r, 1)
        time.sleep(0.1)
    took["request"] = time.monotonic() - begin
thread = threading.Thread(target=request)
thread.start()
# However long it takes to come there: beside a load 60 ms of work may last as long as all waits.
asks.acquire()
time.sleep(0.3)
os.write(w, b"x")
thread.join()
print(json.dumps(took))
"""

RUBY = """
require "fathom"
def request
  Fathom.region("request") do
    Fathom.region("query") do
      $asks << 1
      $r.read(1)
    end
    sleep 0.1
  end
end
$r, w = IO.pipe
$asks = Queue.new
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
thread = Thread.new { request }
$asks.pop
sleep 0.3
w.write "x"
w.close
thread.join
took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
puts "{\\"request\\": #{took}}"
"""

C = """
#include <fathom.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void request(void)
{
	fathom_region_begin("request");
	usleep(100000);
	fathom_region_begin("query");
	usleep(200000);
	fathom_region_end("query");
	fathom_region_end("request");
}
int main(void)
{
	double begun = now();
	request();
	printf("{\\"request\\": %f}\\n", now() - begun);
	usleep(50000);
	return 0;
}
"""


class Regions:
    def check(self, recording, query_state):
        rows = {row["name"]: row for row in recording.report("--by", "region")["regions"]}
        request, query = rows["[region request]"], rows["[region query]"]
        took_ns = recording.truth["request"] * 1e9
        for row in rows.values():
            self.assertEqual(sum(row["states_ns"].values()), row["total_ns"])
        self.assertLessEqual(request["total_ns"], took_ns * 1.01 + 5 * MS)
        # It slept and waited for so long at least; the ends of waits are of the state `runnable`, which has no region.
        self.assertGreaterEqual(request["states_ns"]["sleep"], 95 * MS)
        self.assertGreater(query["states_ns"][query_state], 100 * MS)
        self.assertEqual(query["longest_wait"]["ns"], query["states_ns"][query_state])
        nodes = {node["id"]: node for node in recording.report("--tree")["tree"]}
        inner = [node for node in nodes.values() if node["name"] == "[region query]"]
        self.assertTrue(inner)
        for node in inner:
            self.assertIn(nodes[node["parent"]]["name"], ("[region request]", "request", "block in request",
                                                          "block in Object#request"))
        text = subprocess.run([live.FATHOM, "report", "--by", "region", recording.path], capture_output=True,
                              timeout=120, text=True).stdout
        self.assertRegex(text, r"time +running .*region +waited most in")


class Python(Regions, live_python.PythonTest):
    compares_times = True

    def test_each_version(self):
        self.on_each_python(self.check_python)

    def check_python(self, python):
        if python.version < (3, 6):
            self.skipTest("the program needs Python 3.6")
        recording = self.record_python(python, self.write("app.py", PYTHON), options=("--clock", "wall"), rate=100,
                                       env={**os.environ, "PYTHONPATH": os.path.join(SHARE, "python")})
        self.check(recording, "io")


class Ruby(Regions, live_ruby.RubyTest):
    compares_times = True

    def test_each_version(self):
        self.on_each_ruby(self.check_ruby)

    def check_ruby(self, ruby):
        recording = self.record_ruby(ruby, self.write("app.rb", RUBY), options=("--clock", "wall"), rate=100,
                                     env={**os.environ, "RUBYLIB": os.path.join(SHARE, "ruby")})
        self.check(recording, "io")


class InC(Regions, live.LiveTest):
    compares_times = True

    def test_a_native_program(self):
        folder = subprocess.run([live.FATHOM, "module", "c"], capture_output=True, text=True, check=True).stdout.strip()
        source, program = self.write("app.c", C), self.path("app")
        subprocess.run(["gcc", "-g", "-O1", f"-I{folder}", source, "-o", program, "-ldl"], check=True)
        recording = self.record([program], "--clock", "wall", rate=100)
        self.check(recording, "sleep")


if __name__ == "__main__":
    live.main()
