#!/usr/bin/env python3
"""How often fathom diff is right on real recordings: false alarms, and changes that it finds.

A program in C of 300 functions, one of which has a fifth of the time (--share), is recorded bare and with
that function made 5, 10 and 20 % slower.  Comparisons are of runs drawn from these without overlap, ten a
side.  Beside it the rule that users of tools without intervals go by: a function (with a fiftieth of
the time, or with any) that changed by more than 5 %.

With --tools the rule is applied to what perf diff and pprof -diff_base print of pairs of recordings.

usage: diff_recorded.py FATHOM [--recordings N] [--comparisons N] [--rate HZ] [--share PCT] [--tools]
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

OTHERS = 299
SIDE = 10
SLOWER = (0, 5, 10, 20)
RULE = 0.05
LARGE = 0.02
# What the other functions' loops go round together: 600 + 7 * (i % 60) each.
OTHER_TURNS = sum(600 + 7 * (i % 60) for i in range(OTHERS))


def build(folder, share):
    """The program, whose argument says by how many per cent `changed` is slower."""
    turns = int(OTHER_TURNS * share / (1 - share))
    functions = "".join(f"__attribute__((noinline)) void part{i}(int n) {{ for (int i = 0; i < n; i++) sink += {i}; }}\n"
                        for i in range(OTHERS))
    calls = "".join(f"part{i}({600 + 7 * (i % 60)});\n" for i in range(OTHERS))
    source = os.path.join(folder, "many.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\nstatic volatile unsigned sink;\n" + functions +
                   "__attribute__((noinline)) void changed(int n) { for (int i = 0; i < n; i++) sink += i; }\n"
                   f"int main(int argc, char **argv) {{\nint n = {turns} + {turns} / 100 * atoi(argv[1]);\n"
                   f"for (int turn = 0; turn < atoi(argv[2]); turn++) {{\nchanged(n);\n{calls}}}\n}}\n")
    program = os.path.join(folder, "many")
    subprocess.run(["gcc", "-O1", source, "-o", program], check=True)
    return program


def judge(fathom, before, after):
    """Verdicts other than those that say nothing, and what the rule would say: of large functions, and of any."""
    report = json.loads(subprocess.run([fathom, "diff", "--json", *before, "--", *after], capture_output=True, text=True,
                                       check=True).stdout)
    named = {row["name"] for row in report["functions"] if row["verdict"] in ("slower", "faster", "new", "gone")}
    rule = {row["name"] for row in report["functions"] if row["before_ns"] and abs(row["after_ns"] / row["before_ns"] - 1) > RULE}
    large = {row["name"] for row in report["functions"] if row["before_ns"] > LARGE * report["total"]["before_ns"]}
    return named, rule & large, rule


def of_pprof(fathom, before, after):
    """{function: how many times as long}, by go tool pprof -diff_base."""
    for path in (before, after):
        if not os.path.exists(path + ".pb.gz"):
            subprocess.run([fathom, "export", "--format", "pprof", "-o", path + ".pb.gz", path], check=True, capture_output=True)
    top = ["go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-unit=ms"]

    def flat(*arguments):
        text = subprocess.run([*top, *arguments], capture_output=True, text=True, check=True).stdout
        return {row[5].split(" ")[0]: float(row[0].removesuffix("ms")) for row in (line.split(None, 5) for line in text.splitlines())
                if len(row) == 6 and re.fullmatch(r"-?[0-9.]+(ms)?", row[0])}

    base = flat(before + ".pb.gz")
    change = flat("-diff_base", before + ".pb.gz", after + ".pb.gz")
    return {name: 1 + change.get(name, 0) / ms for name, ms in base.items() if ms > 0}


def of_perf(before, after):
    """The same by perf diff."""
    text = subprocess.run(["perf", "diff", "-q", "-c", "ratio", before, after], capture_output=True, text=True, check=True).stdout
    rows = [re.match(r" *([0-9.]+)% +([0-9.]+) +\S+ +\[.\] (\S+)", line) for line in text.splitlines()]
    return {row[3]: float(row[2]) for row in rows if row}


def compare_tools(fathom, runs, perfs):
    """What comparing one run with one other says: how often the changed function is off by more than the rule."""
    for slower in SLOWER:
        for name, pairs, ratios in (("pprof -diff_base", zip(runs[0], runs[slower][::-1]), lambda a, b: of_pprof(fathom, a, b)),
                                    ("perf diff", zip(perfs[0], perfs[slower][::-1]), of_perf)):
            pairs = [(a, b) for a, b in pairs if a != b]
            named = [{function for function, ratio in ratios(a, b).items() if abs(ratio - 1) > RULE} for a, b in pairs]
            print(f"{slower:3} % slower, {name}, {len(pairs)} pairs: 'changed' in {100 * sum('changed' in one for one in named) / len(named):.0f} %,"
                  f" another in {100 * sum(bool(one - {'changed'}) for one in named) / len(named):.0f} %", flush=True)


def main():
    """Prints a row for each change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fathom")
    parser.add_argument("--recordings", type=int, default=30)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--rate", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=1500)
    parser.add_argument("--share", type=float, default=20, help="of the changed function, in per cent")
    parser.add_argument("--tools", action="store_true")
    arguments = parser.parse_args()
    fathom = os.path.abspath(arguments.fathom)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        program = build(folder, arguments.share / 100)
        runs = {slower: [] for slower in SLOWER}
        perfs = {slower: [] for slower in SLOWER}
        # In turn, so that what the machine does meanwhile changes all.
        for number in range(arguments.recordings):
            for slower in SLOWER:
                if slower and number % 2:
                    continue
                path = f"{slower}.{number}.fathom"
                subprocess.run([fathom, "record", "-q", "-r", str(arguments.rate), "-o", path, "--", program, str(slower),
                                str(arguments.turns)], check=True)
                runs[slower].append(path)
                if arguments.tools and shutil.which("perf"):
                    subprocess.run(["perf", "record", "-q", "-e", "task-clock", "-F", str(arguments.rate), "-o", path + ".perf", program,
                                    str(slower), str(arguments.turns)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    perfs[slower].append(path + ".perf")
        if arguments.tools:
            compare_tools(fathom, runs, perfs)
        for slower in SLOWER:
            wrong, found, rule_wrong, rule_found, any_wrong = 0, 0, 0, 0, 0
            for _ in range(arguments.comparisons if not slower else arguments.comparisons // 4):
                bare = random.sample(runs[0], 2 * SIDE)
                after = random.sample(runs[slower], SIDE) if slower else bare[SIDE:]
                named, large, rule = judge(fathom, bare[:SIDE], after)
                found += "changed" in named
                rule_found += "changed" in large
                wrong += bool(named - {"changed"} if slower else named)
                rule_wrong += bool(large - {"changed"} if slower else large)
                any_wrong += bool(rule - {"changed"} if slower else rule)
            count = arguments.comparisons if not slower else arguments.comparisons // 4
            print(f"{slower:3} % slower, {count} comparisons: a wrong verdict in {100 * wrong / count:.1f} %, found in "
                  f"{100 * found / count:.1f} %; by the rule, of large functions: wrong {100 * rule_wrong / count:.1f} %, found "
                  f"{100 * rule_found / count:.1f} %; of any: wrong {100 * any_wrong / count:.1f} %", flush=True)


if __name__ == "__main__":
    sys.exit(main())
