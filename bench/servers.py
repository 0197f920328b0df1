#!/usr/bin/env python3
"""servers - what recording busy servers costs, beside perf, in one run.

  pgbench -S  PostgreSQL, four clients that only read
  pgbench -N  the same, which also write
  redis       redis-benchmark, 50 clients, GET and SET
  nginx       a small file, two workers, under wrk with 32 connections
  gunicorn    two workers of a small Python application, under wrk with 8
  puma        one worker with four threads of a small Ruby application, under wrk with 8

Each round starts the server bare and then under every profiler once, so that a machine that changes its
pace changes it for all.  Servers run as an ordinary user.  Printed are medians of the ratios to the bare
run of the same round.

  throughput    requests in a second
  CPU           the server's CPU time for a request, whatever else runs on the machine
  cost, said    of its CPU time, what fathom's report says that recording cost
  cost, felt    the same by the CPU time for a request
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import run

ORDINARY_USER = 65534
START_LIMIT_S = 30
APPLICATION = """import json

def application(environ, start_response):
    rows = [{"id": i, "name": f"row {i}", "sum": sum(range(i))} for i in range(40)]
    body = json.dumps(rows).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
"""
RACK_APPLICATION = """require "json"

run lambda { |environment|
  rows = (0...40).map { |i| { id: i, name: "row #{i}", sum: (0...i).sum } }
  [200, { "Content-Type" => "application/json" }, [JSON.generate(rows)]]
}
"""
NGINX = """daemon off; pid {folder}/pid; error_log stderr crit; worker_processes 2;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{port}; root {folder}/www; }} }}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def as_user(command):
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups", *command]


def output_of(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
                          **options).stdout


def requests_of_wrk(text):
    count, seconds = re.search(r"(\d+) requests in ([\d.]+)s", text).groups()
    return int(count), float(seconds)


class Server:
    """How one is begun, when it is there, and what clients do; they give (requests, seconds)."""

    def __init__(self, bench, folder):
        self.bench, self.folder, self.port = bench, folder, free_port()

    def is_there(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def pid(self):
        with open(self.path("pid")) as file:
            return int(file.readline())

    def end(self):
        os.kill(self.pid(), signal.SIGTERM)

    def wrk(self, connections, path, seconds):
        return requests_of_wrk(output_of(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s",
                                          f"http://127.0.0.1:{self.port}/{path}"]))


class Postgres(Server):
    needs = ("pgbench",)
    options = "-S"

    @staticmethod
    def programs():
        folders = sorted(os.listdir("/usr/lib/postgresql"), key=float)
        return os.path.join("/usr/lib/postgresql", folders[-1], "bin")

    def prepare(self):
        binaries = self.programs()
        output_of(as_user([os.path.join(binaries, "initdb"), "-D", self.path("data"), "-A", "trust", "-U", "bench"]),
                  cwd=self.folder)
        with open(self.path("data/postgresql.conf"), "a") as file:
            file.write(f"unix_socket_directories='{self.folder}'\nlisten_addresses=''\nsynchronous_commit=off\n")

    def command(self):
        return [os.path.join(self.programs(), "postgres"), "-D", self.path("data")]

    def is_there(self):
        return subprocess.run([os.path.join(self.programs(), "pg_isready"), "-q", "-h", self.folder]).returncode == 0

    def pid(self):
        with open(self.path("data/postmaster.pid")) as file:
            return int(file.readline())

    def end(self):
        os.kill(self.pid(), signal.SIGINT)

    def load(self, seconds):
        client = ["pgbench", "-h", self.folder, "-U", "bench"]
        if not os.path.exists(self.path("is_filled")):
            output_of([*client, "-i", "-s", "5", "-q", "postgres"])
            self.write("is_filled", "")
        text = output_of([*client, "-n", self.options, "-c", "4", "-T", str(seconds), "postgres"])
        return int(re.search(r"actually processed: (\d+)", text).group(1)), seconds


class PostgresWriting(Postgres):
    options = "-N"


class Redis(Server):
    needs = ("redis-server", "redis-benchmark")

    def prepare(self):
        pass

    def command(self):
        return ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no", "--pidfile",
                self.path("pid"), "--daemonize", "no", "--dir", self.folder, "--logfile", self.path("log")]

    def load(self, seconds):
        count = 40000 * seconds
        begin = time.monotonic()
        output_of(["redis-benchmark", "-p", str(self.port), "-t", "get,set", "-n", str(count // 2), "-c", "50", "-q"])
        return count, time.monotonic() - begin

    def end(self):
        subprocess.run(["redis-cli", "-p", str(self.port), "shutdown", "nosave"], check=True,
                       stdout=subprocess.DEVNULL)


class Nginx(Server):
    needs = ("nginx", "wrk")

    def prepare(self):
        os.mkdir(self.path("www"))
        self.write("www/index.html", "<p>" + "nothing much " * 50)
        self.write("nginx.conf", NGINX.format(folder=self.folder, port=self.port))

    def command(self):
        return ["nginx", "-c", self.path("nginx.conf"), "-p", self.folder]

    def load(self, seconds):
        return self.wrk(32, "index.html", seconds)


class Gunicorn(Server):
    needs = ("gunicorn", "wrk")

    def prepare(self):
        self.write("application.py", APPLICATION)

    def command(self):
        return ["gunicorn", "-w", "2", "-b", f"127.0.0.1:{self.port}", "-p", self.path("pid"), "--chdir", self.folder,
                "--log-level", "error", "application"]

    def load(self, seconds):
        return self.wrk(8, "", seconds)


class Puma(Server):
    needs = ("puma", "wrk")

    def prepare(self):
        self.write("config.ru", RACK_APPLICATION)

    def command(self):
        return ["puma", "-q", "-e", "production", "-t", "4:4", "-b", f"tcp://127.0.0.1:{self.port}",
                "--pidfile", self.path("pid"), self.path("config.ru")]

    def load(self, seconds):
        return self.wrk(8, "", seconds)


SERVERS = {"pgbench -S": Postgres, "pgbench -N": PostgresWriting, "redis": Redis, "nginx": Nginx,
           "gunicorn": Gunicorn, "puma": Puma}


def fathom(bench):
    return [bench.fathom, "record", "-q", "-o", bench.out("x.fathom"), "--"]


def fathom_wall(bench):
    return [bench.fathom, "record", "-q", "--clock", "wall", "-o", bench.out("x.fathom"), "--"]


def fathom_by_events(bench):
    return [bench.fathom, "record", "-q", "--trigger", "sigtrap", "-o", bench.out("x.fathom"), "--"]


def perf_at(rate):
    return lambda bench: ["perf", "record", "-q", "-g", "-F", str(rate), "-o", bench.out("perf.data"), "--"]


PROFILERS = {"bare": lambda bench: [], "fathom": fathom, "fathom sigtrap": fathom_by_events,
             "fathom wall": fathom_wall, "perf -g 99 Hz": perf_at(99), "perf -g 1000 Hz": perf_at(1000)}
COLUMNS = (("throughput", "rate"), ("CPU", "cpu_ns"))


def said_by(bench):
    """Of the server's CPU time; None where there is no recording of fathom's."""
    if not os.path.exists(bench.out("x.fathom")):
        return None
    head = json.loads(output_of([bench.fathom, "report", bench.out("x.fathom"), "--json"]))["recording"]
    return head["sampling_cost_ns"] / head["kernel_cpu_ns"]


def run_once(bench, server, profiler, seconds):
    bench.clear()
    os.chmod(bench.path("out"), 0o777)
    times = bench.out("times")
    with open(bench.path("output"), "w+b") as output:
        child = subprocess.Popen(as_user([*PROFILERS[profiler](bench), bench.path("stamp"), times, *server.command()]),
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=server.folder)
        until = time.monotonic() + START_LIMIT_S
        while not server.is_there():
            if child.poll() is not None or time.monotonic() > until:
                output.seek(0)
                raise RuntimeError(f"{profiler}: {output.read().decode(errors='replace')[-600:]}")
            time.sleep(0.05)
        try:
            requests, lasted = server.load(seconds)
        finally:
            server.end()
            child.wait()
    with open(times) as file:
        cpu_ns = int(file.read().split()[2])
    return {"rate": requests / lasted, "cpu_ns": cpu_ns / requests, "said": said_by(bench)}


def measure(bench, name, profilers, options):
    rounds = []
    with tempfile.TemporaryDirectory(prefix="fathom-server-") as folder:
        os.chmod(folder, 0o777)
        if os.geteuid() == 0:
            os.chown(folder, ORDINARY_USER, ORDINARY_USER)
        server = SERVERS[name](bench, folder)
        server.prepare()
        for number in range(options.rounds + 1):
            results = {profiler: run_once(bench, server, profiler, options.seconds) for profiler in profilers}
            if number > 0:  # the first round warms the caches
                rounds.append(results)
    return rounds


def percent(share):
    return "-" if share is None else f"{100 * share:.1f} %"


def table(name, rounds, profilers, is_markdown):
    bare = statistics.median(results["bare"]["rate"] for results in rounds)
    lines = []
    for profiler in profilers:
        ratios = [run.median_of(rounds, profiler, what, "bare") for _, what in COLUMNS]
        said = [results[profiler]["said"] for results in rounds]
        felt = 1 - 1 / statistics.median(results[profiler]["cpu_ns"] / results["bare"]["cpu_ns"] for results in rounds)
        lines.append([profiler, *(f"{ratio:.2f}" for ratio in ratios),
                      percent(None if None in said else statistics.median(said)), percent(felt)])
    return run.text_of_table(f"{name} (bare: {bare:,.0f} a second)",
                             ["profiler", *(head for head, _ in COLUMNS), "cost, said", "cost, felt"], lines,
                             is_markdown)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default=",".join(SERVERS), help="which (%(default)s)")
    parser.add_argument("--profilers", default=",".join(PROFILERS), help="which (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--seconds", type=int, default=10, help="of load in each (%(default)s)")
    parser.add_argument("--ahead", action="store_true",
                        help="run everything before what else runs on the machine (SCHED_RR, as root)")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    return parser.parse_args()


def is_at_hand(name):
    missing = [program for program in SERVERS[name].needs if shutil.which(program) is None]
    if missing:
        print(f"# {name} is left out: {', '.join(missing)} is not installed", flush=True)
    return not missing


def main():
    options = parse_arguments()
    if options.ahead:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    os.environ["PATH"] += ":/usr/sbin:/usr/games"
    profilers = ["bare", *(name for name in options.profilers.split(",") if name != "bare")]
    if shutil.which("perf") is None:
        profilers = [name for name in profilers if not name.startswith("perf")]
    everything = []
    print(f"# {run.machine()}; medians of {options.rounds} rounds of {options.seconds} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        os.chmod(folder, 0o777)
        bench = run.Bench(folder, os.path.abspath(shutil.which(options.fathom) or options.fathom))
        for name in filter(is_at_hand, options.programs.split(",")):
            rounds = measure(bench, name, profilers, options)
            print(table(name, rounds, profilers, options.markdown), flush=True)
            everything.append({"program": name, "rounds": rounds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
