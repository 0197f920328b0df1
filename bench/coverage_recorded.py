#!/usr/bin/env python3
"""How often the stated 95 % interval of a function's time holds the truth, on real recordings.

Programs in C, Python and Ruby spend phases in two functions, three tenths of them in one, and print by
their threads' clocks how long each took.  Phases are random (exponential), regular, regular and in
step with the timer, or in bursts with pauses between.  bench/coverage.c simulates the same for more
runs than a machine has time for.

usage: coverage_recorded.py FATHOM [--runs N] [--rate HZ] [--seconds S] [--kind KIND]
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

C = r"""
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double phase_ms, seconds; static const char *kind;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static volatile unsigned sink;
__attribute__((noinline)) void rare(double until) { while (now() < until) for (int i = 0; i < 3000; i++) sink += i; }
__attribute__((noinline)) void usual(double until) { while (now() < until) for (int i = 0; i < 3000; i++) sink += i; }
static void *work(void *out)
{
	double *spent = out, begin = now(); unsigned seed = (unsigned)(begin * 1e9) ^ (unsigned)(size_t)out ^ (unsigned)time(NULL);
	while (now() - begin < seconds) {
		for (int f = 0; f < 2; f++) {
			double mean = 2 * phase_ms / 1e3 * (f ? 0.7 : 0.3), length = mean, from = now();
			if (!strcmp(kind, "random")) length = -mean * log((rand_r(&seed) + 1.0) / (RAND_MAX + 2.0));
			(f ? usual : rare)(from + length);
			spent[f] += now() - from;
		}
		if (!strcmp(kind, "bursts") && rand_r(&seed) % 4 == 0) nanosleep(&(struct timespec){ 0, 7000000 }, NULL);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	double spent[16][2] = { 0 }, sums[2] = { 0 }; pthread_t threads[16]; int n = atoi(argv[4]);
	kind = argv[1]; phase_ms = atof(argv[2]); seconds = atof(argv[3]);
	for (int i = 1; i < n; i++) pthread_create(&threads[i], NULL, work, spent[i]);
	work(spent[0]);
	for (int i = 1; i < n; i++) pthread_join(threads[i], NULL);
	for (int i = 0; i < n; i++) for (int f = 0; f < 2; f++) sums[f] += spent[i][f];
	printf("%.9f %.9f\n", sums[0], sums[1]);
}
"""

PYTHON = """
import math, random, sys, threading, time
kind, phase_ms, seconds, count = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
now = time.thread_time
def rare(until):
    while now() < until:
        for i in range(100): pass
def usual(until):
    while now() < until:
        for i in range(100): pass
sums = [0.0, 0.0]
def work():
    begin = now()
    while now() - begin < seconds:
        for f, function, share in ((0, rare, 0.3), (1, usual, 0.7)):
            length = 2 * phase_ms / 1e3 * share
            if kind == "random": length = random.expovariate(1 / length)
            start = now()
            function(start + length)
            sums[f] += now() - start
        if kind == "bursts" and random.random() < 0.25: time.sleep(0.007)
threads = [threading.Thread(target=work) for _ in range(count - 1)]
for thread in threads: thread.start()
work()
for thread in threads: thread.join()
print(*sums)
"""

RUBY = """
kind, phase_ms, seconds, count = ARGV[0], ARGV[1].to_f, ARGV[2].to_f, ARGV[3].to_i
def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
def rare(till)
  while now < till
    i = 0
    i += 1 while i < 100
  end
end
def usual(till)
  while now < till
    i = 0
    i += 1 while i < 100
  end
end
SUMS = [0.0, 0.0]
work = lambda do
  first = now
  while now - first < seconds
    [[:rare, 0.3], [:usual, 0.7]].each_with_index do |(name, share), f|
      length = 2 * phase_ms / 1e3 * share
      length *= -Math.log(1 - rand) if kind == "random"
      start = now
      send(name, start + length)
      SUMS[f] += now - start
    end
    sleep 0.007 if kind == "bursts" && rand < 0.25
  end
end
threads = (count - 1).times.map { Thread.new(&work) }
work.call
threads.each(&:join)
puts SUMS.join(" ")
"""

# Turns last two phases: in step with the timer are those of three quarters, one and two of its round periods.
KINDS = [("random", 0.3), ("random", 3), ("random", 30), ("random", 300), ("in step", 0.374), ("in step", 0.5), ("in step", 1),
         ("regular", 13), ("bursts", 2)]


def programs(folder):
    """The command of each language, by what is here."""
    source = os.path.join(folder, "phases.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(C)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", source, "-o", os.path.join(folder, "phases"), "-lm"], check=True)
    for name, text in (("phases.py", PYTHON), ("phases.rb", RUBY)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return {"C": [os.path.join(folder, "phases")], "Python": ["python3", os.path.join(folder, "phases.py")],
            "Ruby": ["ruby", os.path.join(folder, "phases.rb")]}


def cost_of(row):
    """What is sampled of a function: with what it calls, for the clock is read there."""
    return row["total_ns"], row["total_ns_low"], row["total_ns_high"]


def record(fathom, rate, command):
    """The truth of a run and what its report says of it."""
    done = subprocess.run([fathom, "record", "-q", "-r", str(rate), "-o", "run.fathom", "--", *command], capture_output=True, text=True,
                          check=True)
    truth = [float(word) * 1e9 for word in done.stdout.split()]
    report = json.loads(subprocess.run([fathom, "report", "--json", "run.fathom"], capture_output=True, text=True, check=True).stdout)
    rows = {row["name"].rsplit("#", 1)[-1].rsplit(".", 1)[-1]: cost_of(row) for row in report["functions"]
            if row["name"].rsplit("#", 1)[-1].rsplit(".", 1)[-1] in ("rare", "usual")}
    return truth, rows


def main():
    """Prints a row for each language, number of threads and kind of phase."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fathom")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--kind", help="only that")
    arguments = parser.parse_args()
    fathom = os.path.abspath(arguments.fathom)
    held = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for language, command in programs(folder).items():
            for threads in (1, 4):
                for kind, phase_ms in (each for each in KINDS if arguments.kind in (None, each[0])):
                    word = "regular" if kind == "in step" else kind
                    for _ in range(arguments.runs):
                        truth, rows = record(fathom, arguments.rate, [*command, word, str(phase_ms), str(arguments.seconds / threads),
                                                                     str(threads)])
                        # Of the two the share of one says that of the other: the share among both.
                        cost, low, high = rows.get("rare", (0, 0, 0))
                        both = cost + rows.get("usual", (0, 0, 0))[0]
                        share = truth[0] / sum(truth)
                        held[language, threads, kind, phase_ms].append((low / both <= share <= high / both, (high - low) / 2 / both,
                                                                        cost / both - share))
                    cell = held[language, threads, kind, phase_ms]
                    print(f"{language:7} {threads} {kind:8} {phase_ms:5} ms  {sum(row[0] for row in cell)} of {len(cell)}"
                          f"  ±{100 * sum(row[1] for row in cell) / len(cell):.1f}"
                          f"  off {100 * sum(row[2] for row in cell) / len(cell):+.1f}", flush=True)
    for what, key in (("all", lambda k: ""), ("language", lambda k: k[0]), ("threads", lambda k: k[1]), ("kind", lambda k: k[2])):
        sums = collections.defaultdict(list)
        for cell, rows in held.items():
            sums[key(cell)] += [row[0] for row in rows]
        print(what, ", ".join(f"{name}: {sum(rows)} of {len(rows)}" for name, rows in sums.items()))


if __name__ == "__main__":
    sys.exit(main())
