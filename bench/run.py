#!/usr/bin/env python3
"""run - what recording costs: fathom against its peers, side by side in one run.

Each round runs the bare program and then every profiler once, so that a machine that
changes its pace changes it for all.  Printed are medians of the ratios to the bare
run of the same round.

  slow-down   the program's wall time
  its CPU     the program's own CPU time, handlers and interrupts in it included
  all CPU     CPU time of everything that was started, the profiler's processes included
  size        bytes of the recording
  samples     how many there are in it
  report      from the program's end to a printed report
  memory      the profiler process's peak

The floor is an empty signal handler on the same trigger: nothing that traps can cost less.
"""

import argparse
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests", "live"))
import generate  # noqa: E402

REPORT_LIMIT_S = 20

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-D_GNU_SOURCE", "-std=gnu11"]


def prime_period_ns(rate):
    """The first prime number of nanoseconds from the round period on."""
    number = 1000000000 // rate
    while any(number % divisor == 0 for divisor in range(2, int(number ** 0.5) + 1)):
        number += 1
    return number


class Bench:
    """The folder with what is run, and the tools that measure it."""

    def __init__(self, folder, fathom):
        self.folder = folder
        self.fathom = fathom
        for name, arguments in (("stamp", []), ("native", ["-fomit-frame-pointer"]),
                                ("floor.so", ["-shared", "-fPIC"])):
            source = os.path.join(HERE, name.split(".")[0] + ".c")
            subprocess.run(["cc", "-O2", *WARNINGS, *arguments, "-o", self.path(name), source], check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def clear(self):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        os.makedirs(self.path("out"))

    def out(self, name):
        return os.path.join(self.path("out"), name)


# The programs.  Each gives the command and what must be done before each run.

def native(bench):
    return [bench.path("native"), "60"], None


def xz(bench):
    generate.text_file(bench.path("text"), 5)
    return ["xz", "-T2", "--block-size=1MiB", "-6", "-k", "-c", bench.path("text")], None


def cc1(bench):
    with open(bench.path("large.c"), "w") as file:
        file.write(generate.c_source(220))
    return ["gcc", "-O2", "-c", "-o", bench.path("large.o"), bench.path("large.c")], None


def make(bench):
    project = bench.path("project")
    command = generate.make_project(project)
    return command, ["make", "-s", "-C", project, "clean"]


PROGRAMS = {"native": native, "xz": xz, "cc1": cc1, "make": make}


# The profilers.  Each gives (command in front, environment, recording, report command, samples).

def bare(bench, rate):
    return [], {}, None, None


def floor(bench, rate):
    return [], {"LD_PRELOAD": bench.path("floor.so"), "FLOOR_PERIOD_NS": str(prime_period_ns(rate)),
                "FLOOR_COUNT": bench.out("traps")}, None, None


def fathom(bench, rate):
    recording = bench.out("x.fathom")
    return [bench.fathom, "record", "--rate", str(rate), "-o", recording, "--"], {}, recording, None


def fathom_copied(bench, rate):
    recording = bench.out("x.fathom")
    return ([bench.fathom, "record", "--trigger", "copied", "--rate", str(rate), "-o", recording, "--"], {}, recording,
            None)


def perf_fp(bench, rate):
    recording = bench.out("perf.data")
    return (["perf", "record", "-F", str(rate), "-g", "-o", recording, "--"], {}, recording,
            ["perf", "report", "--stdio", "-i", recording])


def perf_dwarf(bench, rate):
    recording = bench.out("perf.data")
    return (["perf", "record", "-F", str(rate), "--call-graph", "dwarf", "-o", recording, "--"], {}, recording,
            ["perf", "report", "--stdio", "-i", recording])


def gperftools(bench, rate):
    recording = bench.out("cpu.prof")
    library = next((path for path in ("/usr/lib/x86_64-linux-gnu/libprofiler.so.0",
                                      "/usr/lib/aarch64-linux-gnu/libprofiler.so.0") if os.path.exists(path)), None)
    if library is None:
        raise FileNotFoundError("libprofiler.so.0 (libgoogle-perftools4)")
    return [], {"LD_PRELOAD": library, "CPUPROFILE": recording, "CPUPROFILE_FREQUENCY": str(rate)}, recording, "pprof"


PROFILERS = {"bare": bare, "floor": floor, "fathom": fathom, "fathom copied": fathom_copied, "perf -g": perf_fp, "perf dwarf": perf_dwarf,
             "gperftools": gperftools}
NEEDS = {"perf -g": "perf", "perf dwarf": "perf"}


class PeakMemory(threading.Thread):
    """Looks at a process's VmHWM until it has gone."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak_kb, self.is_over = pid, 0, False

    def run(self):
        while not self.is_over:
            try:
                with open(f"/proc/{self.pid}/status") as file:
                    match = re.search(r"VmHWM:\s+(\d+) kB", file.read())
            except OSError:
                return
            if match:
                self.peak_kb = max(self.peak_kb, int(match[1]))
            time.sleep(0.02)


def folder_bytes(path):
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path)) if os.path.isdir(path) else 0


def count_samples(bench, profiler, recording, output):
    if profiler == "floor":
        with open(bench.out("traps")) as file:
            return sum(map(int, file))
    if profiler.startswith("perf"):
        match = re.search(rb"\(~?(\d+) samples\)", output)
        return int(match[1]) if match else None
    if profiler.startswith("fathom"):
        done = subprocess.run([bench.fathom, "report", recording, "--json"], capture_output=True)
        return json.loads(done.stdout)["recording"]["samples"] if done.returncode == 0 else None
    return None


def time_of_report(command):
    """Seconds; REPORT_LIMIT_S if it takes longer (perf asks addr2line for each inlined call)."""
    begin = time.monotonic()
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True)
    try:
        run.wait(timeout=REPORT_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    return min(time.monotonic() - begin, REPORT_LIMIT_S)


def run_once(bench, profiler, rate, command, before):
    if before:
        subprocess.run(before, check=True, stdout=subprocess.DEVNULL)
    bench.clear()
    front, extra, recording, report = PROFILERS[profiler](bench, rate)
    stamp = bench.path("times")
    # A preloaded sampler goes into the program alone, not into the stopwatch around it.
    if extra:
        command = ["env", *(f"{name}={value}" for name, value in extra.items()), *command]
    with open(bench.path("output"), "w+b") as output:
        run = subprocess.Popen([*front, bench.path("stamp"), stamp, *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=output)
        memory = PeakMemory(run.pid)
        memory.start()
        _, status, usage = os.wait4(run.pid, 0)
        finished_ns = time.monotonic_ns()
        run.returncode = os.waitstatus_to_exitcode(status)
        memory.is_over = True
        output.seek(0)
        text = output.read()
    if run.returncode != 0:
        raise RuntimeError(f"{profiler} at {rate} Hz ended with {run.returncode}: {text.decode(errors='replace')[-600:]}")
    with open(stamp) as file:
        begin_ns, end_ns, cpu_ns = map(int, file.read().split())
    result = {"wall_s": (end_ns - begin_ns) / 1e9, "cpu_s": cpu_ns / 1e9, "all_cpu_s": usage.ru_utime + usage.ru_stime}
    if profiler in ("bare", "floor"):
        return {**result, **({"samples": count_samples(bench, profiler, None, text)} if profiler == "floor" else {})}
    result["bytes"] = folder_bytes(bench.path("out"))
    result["report_s"] = (finished_ns - end_ns) / 1e9
    if report == "pprof":
        report = ["google-pprof", "--text", command[command.index(next(c for c in command[1:] if "=" not in c))],
                  recording]
        report[2] = shutil.which(report[2]) or report[2]
        if shutil.which("google-pprof") is None or not os.path.exists(recording):
            report = None
    else:
        result["memory_kb"] = memory.peak_kb
    if report:
        result["report_s"] += time_of_report(report)
    result["samples"] = count_samples(bench, profiler, recording, text)
    return result


def median_of(rounds, profiler, what, base=None):
    values = []
    for results in rounds:
        value = results.get(profiler, {}).get(what)
        if value is not None:
            values.append(value / results[base][what] if base else value)
    return statistics.median(values) if values else None


def summarise(rounds, profilers):
    rows = {}
    for profiler in profilers:
        rows[profiler] = {
            "slow_down": median_of(rounds, profiler, "wall_s", "bare"),
            "its_cpu": median_of(rounds, profiler, "cpu_s", "bare"),
            "all_cpu": median_of(rounds, profiler, "all_cpu_s", "bare"),
            "wall_s": median_of(rounds, profiler, "wall_s"),
            "bytes": median_of(rounds, profiler, "bytes"),
            "samples": median_of(rounds, profiler, "samples"),
            "report_s": median_of(rounds, profiler, "report_s"),
            "memory_kb": median_of(rounds, profiler, "memory_kb"),
        }
    return rows


def text_of(value, shape):
    return "" if value is None else shape.format(value)


def text_of_table(title, head, lines, is_markdown):
    """Cells are text; the first column is names."""
    if is_markdown:
        return "\n".join([f"### {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                          *("| " + " | ".join(line) + " |" for line in lines), ""])
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    return "\n".join([title, *("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                                                for i, (cell, width) in enumerate(zip(line, widths)))
                               for line in [head, *lines]), ""])


def table(program, rate, rows, is_markdown):
    head = ["profiler", "slow-down", "its CPU", "all CPU", "size kB", "samples", "report s", "memory MB"]
    lines = [[name, text_of(row["slow_down"], "{:.3f}"), text_of(row["its_cpu"], "{:.3f}"),
              text_of(row["all_cpu"], "{:.3f}"), text_of(row["bytes"] and row["bytes"] / 1000, "{:.0f}"),
              text_of(row["samples"], "{:.0f}"), text_of(row["report_s"], f"> {REPORT_LIMIT_S}" if (row["report_s"] or 0) >= REPORT_LIMIT_S else "{:.2f}"),
              text_of(row["memory_kb"] and row["memory_kb"] / 1024, "{:.1f}")] for name, row in rows.items()]
    title = f"{program}, {rate} Hz (bare: {rows['bare']['wall_s']:.2f} s)"
    return text_of_table(title, head, lines, is_markdown)


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        paranoid = file.read().strip()
    return (f"{os.cpu_count()} × {model}, Linux {platform.release()}, perf_event_paranoid {paranoid}, "
            f"{'root' if os.geteuid() == 0 else 'an ordinary user'}, {time.strftime('%Y-%m-%d')}")


def available(names):
    for name in names:
        need = NEEDS.get(name)
        if need and shutil.which(need) is None:
            print(f"# {name}: left out, {need} is not installed", file=sys.stderr)
        else:
            yield name


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which programs (%(default)s)")
    parser.add_argument("--profilers", default=",".join(PROFILERS), help="which profilers (%(default)s)")
    parser.add_argument("--rates", default="1000,10000", help="samples a second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    return parser.parse_args()


def measure(bench, program, profilers, rate, round_count):
    command, before = PROGRAMS[program](bench)
    rounds = []
    broken = set()
    for number in range(round_count + 1):
        results = {}
        for profiler in profilers:
            if profiler in broken:
                continue
            try:
                results[profiler] = run_once(bench, profiler, rate, command, before)
            except (RuntimeError, OSError) as failure:
                print(f"# {program}: {failure}", file=sys.stderr)
                broken.add(profiler)
        if number > 0:  # the first round warms the caches
            rounds.append(results)
    return rounds


def main():
    options = parse_arguments()
    profilers = list(available(["bare", *(name for name in options.profilers.split(",") if name != "bare")]))
    everything = []
    print(f"# {machine()}; medians of {options.rounds}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        bench = Bench(folder, shutil.which(options.fathom) or options.fathom)
        for program in options.programs.split(","):
            for rate in map(int, options.rates.split(",")):
                rounds = measure(bench, program, profilers, rate, options.rounds)
                rows = summarise(rounds, profilers)
                print(table(program, rate, rows, options.markdown), flush=True)
                everything.append({"program": program, "rate_hz": rate, "medians": rows, "rounds": rounds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    main()
