"""Real programs from Debian: whole stacks, and a CPU account that closes."""

import os
import socket
import subprocess
import time

import generate
import live
from live import workload

PYTHON = "/usr/bin/python3"
# What the shell's `times` says is more: since Linux 6.16 no counter has the end of a process.
COUNTED = [PYTHON, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "python",
                                "counts_cpu.py")]
FILLS_MEMORY = """
import os, resource
for _ in range(20):
    if os.fork() == 0:
        filled = b"x" * (100 << 20)
        os._exit(0)
    os.wait()
spent = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(1e9 * (usage.ru_utime + usage.ru_stime) for usage in spent))
"""
# So many that the hundredth part is no chance; a faster machine needs less time for the same.
LEAST_SAMPLES = 500


class WholeStacks(live.LiveTest):

    def assert_whole(self, command, **options):
        self.assert_whole_stacks(self.record(command, **options), least_samples=LEAST_SAMPLES)

    def test_of_xz_are_whole(self):
        xz = self.need("xz")
        generate.text_file(self.path("text"), 1)
        self.assert_whole([xz, "-T2", "-k", "-c", self.path("text")])

    def test_of_zstd_are_whole(self):
        zstd = self.need("zstd")
        generate.text_file(self.path("text"), 2)
        self.assert_whole([zstd, "-q", "-15", "-T2", "-c", self.path("text")])

    def test_of_sqlite_are_whole(self):
        sqlite = self.need("sqlite3")
        self.assert_whole([sqlite, ":memory:", """
            CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
            SELECT i, (i * 7919) % 100003 AS k, printf('row %d', i) AS s FROM n;
            CREATE INDEX by_k ON t(k);
            SELECT count(*), sum(length(a.s)), max(b.s) FROM t a JOIN t b ON a.k = b.i;
            SELECT s FROM t WHERE s LIKE '%99%' ORDER BY k DESC LIMIT 3;"""])

    def test_of_assembler_are_whole(self):
        """AES-GCM's CFA is in rax, which the function that it calls keeps."""
        openssl = self.need("openssl")
        for name in ("aes-128-gcm", "chacha20-poly1305"):
            # By the clock on the wall: beside other programs a second may be a thirtieth of one.
            for seconds in ("1", "10"):
                recording = self.record([openssl, "speed", "-seconds", seconds, "-bytes", "8192", "-evp", name])
                if recording.head()["samples"] > LEAST_SAMPLES:
                    break
            self.assert_whole_stacks(recording, least_samples=LEAST_SAMPLES)

    def test_of_the_c_compiler_are_whole(self):
        gcc = self.need("gcc")
        with open(self.path("large.c"), "w") as file:
            file.write(generate.c_source(50))
        self.assert_whole([gcc, "-O2", "-c", "-o", self.path("large.o"), self.path("large.c")])

    def test_of_python_are_whole(self):
        self.assert_whole([self.need(PYTHON), "-c", """
import json, re, zlib
values = [{"n": i, "s": "x" * (i % 50)} for i in range(3000)]
for turn in range(40):
    text = json.dumps(values)
    json.loads(text)
    re.findall(r'"n": (\\d+)', text)
    zlib.compress(text.encode())
    sorted(values, key=lambda v: -v["n"])
"""])

    def test_of_redis_under_its_benchmark_are_whole(self):
        server, benchmark = self.need("redis-server"), self.need("redis-benchmark")
        path, place = self.path("test.fathom"), self.path("socket")
        run = subprocess.Popen([live.FATHOM, "record", "-q", "--rate", "10000", "-o", path, "--", server,
                                "--port", "0", "--unixsocket", place, "--save", "", "--dir", self.folder],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            wait_for_socket(place)
            subprocess.run([benchmark, "-s", place, "-q", "-n", "12000", "-t",
                            "set,get,lpush,lrange_100,mset"], capture_output=True, check=True, timeout=120)
        finally:
            run.terminate()
            output = run.communicate(timeout=300)[0]
        self.assertEqual(run.returncode, 0, output.decode(errors="replace"))
        self.assert_whole_stacks(live.Recording(path, run))

    def test_of_templates_are_whole(self):
        self.assert_whole(workload("templates", 400))


class Account(live.LiveTest):
    compares_times = True

    def build(self, *options, **record_options):
        command = generate.make_project(self.path("project"), files=6, functions=12)
        self.need(PYTHON)
        return self.record([*COUNTED, *map(str, self.needed(command))], *options, **record_options)

    def needed(self, command):
        return [self.need("make"), *command[1:]]

    def test_of_a_parallel_make_closes_and_each_process_has_its_time_in_it(self):
        recording = self.build(rate=1000)
        self.assert_adds_up(recording)
        self.assert_explained(recording)
        counted_ns = recording.truth["counted_ns"]
        if counted_ns is not None:
            self.assertLessEqual(abs(recording.head()["kernel_cpu_ns"] - counted_ns), 0.01 * counted_ns)
        processes = {name for (name,) in recording.rows("SELECT DISTINCT name FROM processes")}
        self.assertLessEqual({"make", "cc1", "as"}, processes)
        by_process = dict(recording.rows(
            "SELECT p.name, sum(s.weight_ns) FROM samples s JOIN threads t ON t.id = s.thread"
            " JOIN processes p ON p.id = t.process GROUP BY p.name"))
        self.assertGreater(by_process["cc1"], 0.5 * recording.head()["sampled_ns"])

    def test_of_a_parallel_make_with_the_timer_closes(self):
        recording = self.build("--trigger", "timer", rate=1000)
        self.assert_adds_up(recording)
        self.assert_explained(recording)

    def test_of_a_parallel_make_by_an_ordinary_user_closes(self):
        command = generate.make_project(self.path("project"), files=6, functions=12)
        os.chmod(self.path("project"), 0o777)
        recording = self.record_as_user(self.needed(command), rate=1000)
        self.assert_adds_up(recording)
        self.assert_explained(recording)

    def test_what_ending_processes_take_uncounted_is_reported(self):
        recording = self.record([self.need(PYTHON), "-c", FILLS_MEMORY], rate=1000)
        missing_ns = recording.truth - recording.head()["kernel_cpu_ns"]
        notes = [note for note in recording.head()["notes"] if note.startswith("wait(2) reports ")]
        if missing_ns < 0.02 * recording.truth:
            self.assertEqual(notes, [])
            self.skipTest("this kernel counts processes to their end")
        self.assertEqual(len(notes), 1, recording.head()["notes"])
        said_ns = 1e9 * float(notes[0].removeprefix("wait(2) reports ").split()[0])
        self.assertLessEqual(abs(said_ns - missing_ns), 0.02 * recording.truth)


def wait_for_socket(place):
    for _ in range(200):
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(place) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {place}")


if __name__ == "__main__":
    live.main()
