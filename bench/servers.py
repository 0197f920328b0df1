#!/usr/bin/env python3
"""servers - what recording busy servers costs, beside perf, in one run.

  pgbench -S  PostgreSQL, four clients that only read
  pgbench -N  the same, which also write
  redis       redis-benchmark, 50 clients, GET and SET
  nginx       a small file, two workers, under wrk with 32 connections
  gunicorn    two workers of a small Python application, under wrk with 8
  puma        one worker with four threads of a small Ruby application, under wrk with 8

Each round starts the server bare and under every profiler, all at the same time, each with clients of its
own.  The clients take turns of half a second (SIGSTOP, SIGCONT), so that a change of the machine's
speed affects all, and one server works at a time.  The first turns are for warming up.  Servers run as an
ordinary user.  Printed are medians of the ratios to the bare server of the same round.

  throughput    requests in a second of its turns
  CPU           the server's CPU time for a request, whatever else runs on the machine; ± one standard error
  cost, reported    of its CPU time, the cost of recording in fathom's report
  cost, measured    the same by the CPU time for a request
"""

import argparse
import json
import os
import random
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
TURN_S = 0.5
WARM_UP_S = 1
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


def cpu_ns_of_tree(root):
    """Of a process and all below it, with what has ended and been waited for; to 10 ms a process."""
    fields = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields[int(name)] = file.read().rpartition(")")[2].split()
        except OSError:
            continue
    ticks = 0
    for pid in fields:
        above = pid
        while above in fields and above != root:
            above = int(fields[above][1])
        if above == root:
            ticks += sum(int(field) for field in fields[pid][11:15])
    return ticks * 1000000000 // os.sysconf("SC_CLK_TCK")


class Server:
    """How one is begun, when it is there, what its clients are and how many requests they had answered."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()

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

    def wrk(self, connections, path=""):
        return ["wrk", "-t1", f"-c{connections}", "-d3600s", f"http://127.0.0.1:{self.port}/{path}"]

    def begin(self):
        """Starts the clients."""
        self.clients = subprocess.Popen(self.client(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self):
        """Ends the clients and gives the number of requests."""
        while True:
            self.clients.send_signal(signal.SIGINT)
            self.clients.send_signal(signal.SIGCONT)
            try:
                return int(re.search(r"(\d+) requests in", self.clients.communicate(timeout=0.02)[0]).group(1))
            except subprocess.TimeoutExpired:
                continue  # wrk was not asleep when the signal came


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

    def answered(self):
        text = output_of([os.path.join(self.programs(), "psql"), "-h", self.folder, "-U", "bench", "-Atc",
                          "select xact_commit from pg_stat_database where datname = 'postgres'", "template1"])
        return int(text)

    def client(self):
        return ["pgbench", "-h", self.folder, "-U", "bench", "-n", self.options, "-c", "4", "-T", "3600", "postgres"]

    def begin(self):
        if not os.path.exists(self.path("is_filled")):
            output_of(["pgbench", "-h", self.folder, "-U", "bench", "-i", "-s", "5", "-q", "postgres"])
            self.write("is_filled", "")
            time.sleep(1)
        self.before = self.answered()
        super().begin()

    def finish(self):
        self.clients.terminate()  # a job in the background may ignore SIGINT
        self.clients.send_signal(signal.SIGCONT)
        self.clients.communicate()
        time.sleep(0.5)  # servers add up what they did when they end
        return self.answered() - self.before


class PostgresWriting(Postgres):
    options = "-N"


class Redis(Server):
    needs = ("redis-server", "redis-benchmark")

    def prepare(self):
        pass

    def command(self):
        return ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no", "--pidfile",
                self.path("pid"), "--daemonize", "no", "--dir", self.folder, "--logfile", self.path("log")]

    def answered(self):
        text = output_of(["redis-cli", "-p", str(self.port), "info", "stats"])
        return int(re.search(r"total_commands_processed:(\d+)", text).group(1))

    def client(self):
        return ["redis-benchmark", "-p", str(self.port), "-t", "get,set", "-n", "1000000", "-c", "50", "-q", "-l"]

    def begin(self):
        self.before = self.answered()
        super().begin()

    def finish(self):
        self.clients.kill()
        self.clients.communicate()
        return self.answered() - self.before

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

    def client(self):
        return self.wrk(32, "index.html")


class Gunicorn(Server):
    needs = ("gunicorn", "wrk")

    def prepare(self):
        self.write("application.py", APPLICATION)

    def command(self):
        return ["gunicorn", "-w", "2", "-b", f"127.0.0.1:{self.port}", "-p", self.path("pid"), "--chdir", self.folder,
                "--log-level", "error", "application"]

    def client(self):
        return self.wrk(8)


class Puma(Server):
    needs = ("puma", "wrk")

    def prepare(self):
        self.write("config.ru", RACK_APPLICATION)

    def command(self):
        return ["puma", "-q", "-e", "production", "-t", "4:4", "-b", f"tcp://127.0.0.1:{self.port}",
                "--pidfile", self.path("pid"), self.path("config.ru")]

    def client(self):
        return self.wrk(8)


SERVERS = {"pgbench -S": Postgres, "pgbench -N": PostgresWriting, "redis": Redis, "nginx": Nginx,
           "gunicorn": Gunicorn, "puma": Puma}


def fathom(*options):
    return lambda server, program: [program, "record", "-q", *options, "-o", server.path("x.fathom"), "--"]


def perf_at(rate):
    return lambda server, _: ["perf", "record", "-q", "-g", "-F", str(rate), "-o", server.path("perf.data"), "--"]


# Another bare server shows what the machine alone makes different.
PROFILERS = {"bare": lambda *_: [], "bare again": lambda *_: [], "fathom": fathom(),
             "fathom sigtrap": fathom("--trigger", "sigtrap"), "fathom wall": fathom("--clock", "wall"),
             "perf -g 99 Hz": perf_at(99), "perf -g 1000 Hz": perf_at(1000)}
COLUMNS = (("throughput", "rate"), ("CPU", "cpu_ns"))


class Contender:
    """A server under a profiler, with clients that work only in their turns."""

    def __init__(self, server, command):
        self.server, self.worked_s = server, 0
        self.output = open(server.path("output"), "w+b")
        self.child = subprocess.Popen(as_user([*command, *server.command()]), stdin=subprocess.DEVNULL,
                                      stdout=self.output, stderr=self.output, cwd=server.folder)
        until = time.monotonic() + START_LIMIT_S
        while not server.is_there():
            if self.child.poll() is not None or time.monotonic() > until:
                self.output.seek(0)
                raise RuntimeError(self.output.read().decode(errors="replace")[-600:])
            time.sleep(0.05)

    def begin(self):
        self.server.begin()
        time.sleep(WARM_UP_S)
        self.server.clients.send_signal(signal.SIGSTOP)
        time.sleep(0.1)

    def turn(self):
        begin = time.monotonic()
        self.server.clients.send_signal(signal.SIGCONT)
        time.sleep(TURN_S)
        self.server.clients.send_signal(signal.SIGSTOP)
        self.worked_s += time.monotonic() - begin
        time.sleep(0.02)

    def result(self, program):
        """Ends it.  The first second, in which its trigger may change, is in the figures of all."""
        cpu_ns = cpu_ns_of_tree(self.server.pid()) - self.cpu_before_ns
        requests = self.server.finish()
        self.server.end()
        self.child.wait()
        self.output.close()
        return {"rate": requests / (self.worked_s + WARM_UP_S), "cpu_ns": cpu_ns / requests,
                "reported": reported_by(program, self.server.path("x.fathom"))}


def reported_by(program, recording):
    """Of the server's CPU time; None where there is no recording of fathom's."""
    if not os.path.exists(recording):
        return None
    head = json.loads(output_of([program, "report", recording, "--json"]))["recording"]
    return head["sampling_cost_ns"] / head["kernel_cpu_ns"]


def run_round(program, name, profilers, turns):
    with tempfile.TemporaryDirectory(prefix="fathom-server-") as folder:
        os.chmod(folder, 0o777)
        contenders = {}
        for number, profiler in enumerate(random.sample(profilers, len(profilers))):
            own = os.path.join(folder, str(number))
            os.mkdir(own)
            os.chmod(own, 0o777)
            if os.geteuid() == 0:
                os.chown(own, ORDINARY_USER, ORDINARY_USER)
            server = SERVERS[name](own)
            server.prepare()
            contenders[profiler] = Contender(server, PROFILERS[profiler](server, program))
        for contender in contenders.values():
            contender.cpu_before_ns = cpu_ns_of_tree(contender.server.pid())
            contender.begin()
        for _ in range(turns):
            for contender in random.sample(list(contenders.values()), len(contenders)):
                contender.turn()
        return {profiler: contender.result(program) for profiler, contender in contenders.items()}


def measure(program, name, profilers, options):
    return [run_round(program, name, profilers, options.turns) for _ in range(options.rounds)]


def percent(share):
    return "-" if share is None else f"{100 * share:.1f} %"


def standard_error(values):
    """Of their median, by drawing from them again."""
    if len(values) < 2:
        return 0
    return statistics.stdev(statistics.median(random.choices(values, k=len(values))) for _ in range(400))


def table(name, rounds, profilers, is_markdown):
    bare = statistics.median(results["bare"]["rate"] for results in rounds)
    lines = []
    for profiler in profilers:
        ratios = [run.median_of(rounds, profiler, what, "bare") for _, what in COLUMNS]
        reported = [results[profiler]["reported"] for results in rounds]
        cpu = [results[profiler]["cpu_ns"] / results["bare"]["cpu_ns"] for results in rounds]
        measured = 1 - 1 / statistics.median(cpu)
        lines.append([profiler, f"{ratios[0]:.2f}", f"{ratios[1]:.2f} ± {standard_error(cpu):.2f}",
                      percent(None if None in reported else statistics.median(reported)), percent(measured)])
    return run.text_of_table(f"{name} (bare: {bare:,.0f} a second)",
                             ["profiler", *(head for head, _ in COLUMNS), "cost, reported", "cost, measured"], lines,
                             is_markdown)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default=",".join(SERVERS), help="which (%(default)s)")
    parser.add_argument("--profilers", default=",".join(PROFILERS), help="which (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--turns", type=int, default=20, help="of half a second for each in a round (%(default)s)")
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
    os.environ["PATH"] += ":/usr/sbin:/usr/games"
    profilers = ["bare", *(name for name in options.profilers.split(",") if name != "bare")]
    if shutil.which("perf") is None:
        profilers = [name for name in profilers if not name.startswith("perf")]
    everything = []
    print(f"# {run.machine()}; medians of {options.rounds} rounds of {options.turns} turns", flush=True)
    program = os.path.abspath(shutil.which(options.fathom) or options.fathom)
    for name in filter(is_at_hand, options.programs.split(",")):
        rounds = measure(program, name, profilers, options)
        print(table(name, rounds, profilers, options.markdown), flush=True)
        everything.append({"program": name, "rounds": rounds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
