#!/usr/bin/env python3
"""How often the stated 95 % interval of a function's time holds the truth, on real recordings.

Programs in C, Python and Ruby spend phases in two functions, three tenths of them in one, and print by
their threads' clocks how long each took, and how long it was to be.  Phases are random (exponential),
regular, regular and in step with the timer, or random between pauses.  Two truths: the share of that
run, and of the program in the long run.  bench/coverage.c simulates the same for more runs than a
machine has time for.

Regular phases end by a clock that began with the program.  One that begins anew with each phase is put
off by the trap that ends it late, as long as it takes: turns a hundredth shorter than the period become
as long as it, and each sample meets the same place (docs/accuracy.md).

With --timelines FOLDER nothing is recorded: each program runs once, bare, for SECONDS, and the lengths
of its phases are written to a file there, of which bench/coverage.c makes recordings.

usage: coverage_recorded.py FATHOM [--runs N] [--rate HZ] [--seconds S] [--kind KIND] [--language NAME]
                            [--options 'OPTION…'] [--timelines FOLDER]
"""

import argparse
import collections
import json
import os
import shlex
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
#include <sys/random.h>
#include <time.h>
static double phase_ms, seconds; static const char *kind; static int lists;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static volatile unsigned sink;
__attribute__((noinline)) void rare(double until) { while (now() < until) for (int i = 0; i < 3000; i++) sink += i; }
__attribute__((noinline)) void usual(double until) { while (now() < until) for (int i = 0; i < 3000; i++) sink += i; }
static double chance(unsigned *seed) { return (rand_r(seed) + 1.0) / (RAND_MAX + 2.0); }
struct spent { double sum[2], late[2]; int phases[2]; };
static void *work(void *out)
{
	struct spent *spent = out; unsigned seed; double begin = now(), until = begin; int is_regular = !strcmp(kind, "regular");
	getrandom(&seed, sizeof seed, 0);
	for (int f = chance(&seed) > 0.3; now() - begin < seconds; f = !f) {
		double length = 2 * phase_ms / 1e3 * (f ? 0.7 : 0.3), from = now(), planned = is_regular ? until : from;
		if (!is_regular) length *= -log(chance(&seed));
		else if (until == begin) length *= chance(&seed);
		until = fmin(planned + length, begin + seconds);
		(f ? usual : rare)(until);
		double took = now() - from;
		spent->sum[f] += took; spent->late[f] += took - (until - planned); spent->phases[f]++;
		if (lists) printf("%d %.7f\n", f, took);
		if (!strcmp(kind, "bursts") && chance(&seed) < 0.12) nanosleep(&(struct timespec){ 0, 7000000 }, NULL);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	struct spent spent[16] = { 0 }; pthread_t threads[16]; int n = atoi(argv[4]);
	kind = argv[1]; phase_ms = atof(argv[2]); seconds = atof(argv[3]); lists = argc > 5;
	for (int i = 1; i < n; i++) pthread_create(&threads[i], NULL, work, &spent[i]);
	work(&spent[0]);
	for (int i = 1; i < n; i++) pthread_join(threads[i], NULL);
	for (int i = 0; i < n && !lists; i++)
		printf("%.9f %.9f %.9f %.9f %d %d\n", spent[i].sum[0], spent[i].sum[1], spent[i].late[0], spent[i].late[1],
		       spent[i].phases[0], spent[i].phases[1]);
}
"""

PYTHON = """
import random, sys, threading, time
kind, phase_ms, seconds, count = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
lists = len(sys.argv) > 5
now = time.thread_time
def rare(until):
    while now() < until:
        for i in range(100): pass
def usual(until):
    while now() < until:
        for i in range(100): pass
def work(rows):
    sums, late, phases, begin = [0.0, 0.0], [0.0, 0.0], [0, 0], now()
    until, f = begin, int(random.random() > 0.3)
    while now() - begin < seconds:
        length, start = 2 * phase_ms / 1e3 * (0.7 if f else 0.3), now()
        planned = until if kind == "regular" else start
        if kind != "regular": length *= random.expovariate(1)
        elif until == begin: length *= random.random()
        until = min(planned + length, begin + seconds)
        (usual if f else rare)(until)
        took = now() - start
        sums[f] += took
        late[f] += took - (until - planned)
        phases[f] += 1
        if lists: print(f, "%.7f" % took)
        if kind == "bursts" and random.random() < 0.12: time.sleep(0.007)
        f = 1 - f
    rows.append(sums + late + phases)
rows = []
threads = [threading.Thread(target=work, args=(rows,)) for _ in range(count - 1)]
for thread in threads: thread.start()
work(rows)
for thread in threads: thread.join()
if not lists:
    for row in rows: print(*row)
"""

RUBY = """
kind, phase_ms, seconds, count = ARGV[0], ARGV[1].to_f, ARGV[2].to_f, ARGV[3].to_i
LISTS = ARGV.size > 4
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
ROWS = []
work = lambda do
  sums, late, phases, first = [0.0, 0.0], [0.0, 0.0], [0, 0], now
  till, f = first, rand > 0.3 ? 1 : 0
  while now - first < seconds
    length, start = 2 * phase_ms / 1e3 * (f == 1 ? 0.7 : 0.3), now
    planned = kind == "regular" ? till : start
    if kind != "regular" then length *= -Math.log(1 - rand)
    elsif till == first then length *= rand
    end
    till = [planned + length, first + seconds].min
    f == 1 ? usual(till) : rare(till)
    took = now - start
    sums[f] += took
    late[f] += took - (till - planned)
    phases[f] += 1
    puts "#{f} #{took.round(7)}" if LISTS
    sleep 0.007 if kind == "bursts" && rand < 0.12
    f = 1 - f
  end
  ROWS << sums + late + phases
end
threads = (count - 1).times.map { Thread.new(&work) }
work.call
threads.each(&:join)
ROWS.each { |row| puts row.join(" ") } unless LISTS
"""

# Turns last two phases: in step with the timer are those of three quarters, one and two of its round periods.
KINDS = [("random", 0.3), ("random", 1), ("random", 3), ("random", 10), ("random", 30), ("random", 100), ("random", 300), ("random", 1000),
         ("in step", 0.374), ("in step", 0.5), ("in step", 1), ("regular", 3.1), ("regular", 13), ("regular", 45), ("bursts", 2)]
LANGUAGES = ("C", "Python", "Ruby")


def programs(folder):
    """The command of each language."""
    source = os.path.join(folder, "phases.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(C)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", source, "-o", os.path.join(folder, "phases"), "-lm"], check=True)
    for name, text in (("phases.py", PYTHON), ("phases.rb", RUBY)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return {"C": [os.path.join(folder, "phases")], "Python": ["python3", os.path.join(folder, "phases.py")],
            "Ruby": ["ruby", os.path.join(folder, "phases.rb")]}


def truths_of(text, phase_ms):
    """The share of this run, and of the program: phases last as they are drawn, and longer by so much on average."""
    rows = [[float(word) for word in line.split()] for line in text.splitlines()]
    sums, late, phases = ([sum(row[at + f] for row in rows) for f in (0, 1)] for at in (0, 2, 4))
    whole = [2 * phase_ms / 1e3 * share + late[f] / max(phases[f], 1) for f, share in ((0, 0.3), (1, 0.7))]
    return sums[0] / sum(sums), whole[0] / sum(whole)


def record(fathom, arguments, command, folder):
    """What the program printed, and of a report the rows of its two functions."""
    path = os.path.join(folder, "run.fathom")
    rate = [] if "--overhead" in arguments.options else ["-r", str(arguments.rate)]
    done = subprocess.run([fathom, "record", "-q", *rate, *shlex.split(arguments.options), "-o", path, "--", *command],
                          capture_output=True, text=True, check=True)
    report = json.loads(subprocess.run([fathom, "report", "--json", path], capture_output=True, text=True, check=True).stdout)
    rows = {row["name"].rsplit("#", 1)[-1].rsplit(".", 1)[-1]: row for row in report["functions"]}
    return done.stdout, rows


def judge(rows, truths):
    """One recording: whether each truth is held, half the width, how far off the share is of the run's, in how many phases; or None."""
    # With what they call, for the clock is read there; of the two the share of one says that of the other.
    totals = {name: rows[name]["total_ns"] for name in ("rare", "usual") if name in rows}
    if "rare" not in totals or "usual" not in totals:
        return None
    both, row = sum(totals.values()), rows["rare"]
    low, high = row["total_ns_low"] / both, row["total_ns_high"] / both
    held = [low <= truth <= high for truth in truths]
    return *held, (high - low) / 2, totals["rare"] / both - truths[0], row["total_ns_phases"]


def show(name, cell):
    """A cell of the table."""
    once = [row for row in cell if row and row[4] == 1]
    rows = [row for row in cell if row and row[4] != 1]

    def part(values):
        values = list(values)
        return f"{sum(values)} of {len(values)}"

    print(f"{name}: program {part(row[1] for row in rows)}, run {part(row[0] for row in rows)}"
          f" ±{100 * sum(row[2] for row in rows) / max(len(rows), 1):.1f}; once {part(row[0] for row in once)};"
          f" {sum(row is None for row in cell)} with one function;"
          f" off the run's {100 * sum(row[3] for row in rows) / max(len(rows), 1):+.2f}", flush=True)


def write_timelines(commands, arguments):
    """A file for each program: lengths of the rare function's phases and of the usual one's in turn."""
    os.makedirs(arguments.timelines, exist_ok=True)
    for language, command in commands.items():
        for kind, phase_ms in KINDS:
            word = "regular" if kind == "in step" else kind
            done = subprocess.run([*command, word, str(phase_ms), str(arguments.seconds), "1", "lists"], capture_output=True, text=True,
                                  check=True)
            lengths = [line.split() for line in done.stdout.splitlines()]
            lengths = lengths[lengths[0][0] == "1":]
            with open(os.path.join(arguments.timelines, f"{language} {kind} {phase_ms}"), "w", encoding="utf-8") as file:
                file.write("\n".join(length for _, length in lengths) + "\n")


def main():
    """Prints a row for each language, number of threads and kind of phase."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fathom")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--kind", help="only that")
    parser.add_argument("--language", help="only that")
    parser.add_argument("--options", default="", help="more of record's")
    parser.add_argument("--timelines", help="a folder")
    arguments = parser.parse_args()
    fathom = os.path.abspath(arguments.fathom)
    cells = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        commands = {name: command for name, command in programs(folder).items() if arguments.language in (None, name)}
        if arguments.timelines:
            write_timelines(commands, arguments)
            return
        for language, command in commands.items():
            for threads in (1, 4):
                for kind, phase_ms in (each for each in KINDS if arguments.kind in (None, each[0])):
                    word = "regular" if kind == "in step" else kind
                    for _ in range(arguments.runs):
                        text, rows = record(fathom, arguments, [*command, word, str(phase_ms), str(arguments.seconds / threads),
                                                                str(threads)], folder)
                        cells[language, threads, kind, phase_ms].append(judge(rows, truths_of(text, phase_ms)))
                    show(f"{language:6} {threads} {kind:8} {phase_ms:5} ms", cells[language, threads, kind, phase_ms])
    for what, key in (("all", lambda k: ""), ("language", lambda k: k[0]), ("threads", lambda k: k[1]), ("kind", lambda k: k[2]),
                      ("phases", lambda k: k[2:])):
        sums = collections.defaultdict(list)
        for cell, rows in cells.items():
            sums[key(cell)] += rows
        for name, rows in sums.items():
            show(f"{what} {name}", rows)


if __name__ == "__main__":
    sys.exit(main())
