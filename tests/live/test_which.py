"""Which process is which: programs and processes by name and title, and what they were doing."""

import concurrent.futures
import os
import shutil
import signal
import subprocess
import time

import live
from live_programs import BURN, ProgramsTest

# Writes a title over its arguments, as setproctitle does, in three children and then in itself.
TITLES = """
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void burn(void)
{
	volatile unsigned long sum = 1;

	for (int i = 0; i < 300000000; i++)
		sum = sum * 3 + 1;
}
int main(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);

	(void)argc;
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			memset(argv[0], 0, (size_t)(end - argv[0]));
			sprintf(argv[0], "titles: worker %d", i);
			burn();
			return 0;
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


class ByProgram(ProgramsTest):

    def test_brief_processes_are_in_their_programs_sum(self):
        burn = self.build_text("burn", BURN)
        script = f"for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; {burn}; {burn}"
        recording = self.record(["sh", "-c", script], rate=100, expect=3)
        programs = {row["name"]: row for row in recording.report("--by", "program")["programs"]}
        self.assertEqual((programs["burn"]["processes"], programs["burn"]["brief"]), (2, 0), programs)
        true = programs["true"]
        self.assertEqual((true["processes"], true["entered"], true["unentered_reason"]), (10, 10, None))
        self.assertGreaterEqual(true["brief"], 5)
        self.assertGreater(true["self_ns"], 0)
        # It is the processes' sum, and all of them are in a row.
        processes = recording.report("--by", "process")["processes"]
        self.assertEqual(true["self_ns"], sum(row["self_ns"] for row in processes if row["name"] == "true"))
        self.assertEqual(sum(row["processes"] for row in programs.values()), len(processes))
        self.assertEqual(sum(row["self_ns"] for row in programs.values()), recording.total_ns())


class Titles(ProgramsTest):

    def titles(self, recording, name):
        return sorted(row["title"] or "" for row in recording.report("--by", "process")["processes"]
                      if row["name"] == name and row["self_samples"] > 0)

    def test_titles_that_programs_write_over_their_arguments(self):
        program = self.build_text("titles", TITLES)
        for trigger in ("sigtrap", "timer"):
            with self.subTest(trigger=trigger):
                recording = self.record([program, "x" * 40, "y" * 40], "--trigger", trigger, rate=1000)
                workers = [title for title in self.titles(recording, "titles") if title.startswith("titles:")]
                self.assertEqual(workers, [f"titles: worker {i}" for i in range(3)])
                text = subprocess.run([live.FATHOM, "report", recording.path, "--by", "process", "--no-pager"],
                                      capture_output=True, check=True, text=True).stdout
                self.assertRegex(text, r"\d  titles: worker 2\n")

    def test_a_traced_process_has_its_arguments(self):
        program = self.build_text("called", """
            #include <time.h>
            __attribute__((noinline)) int f(int i) { return i + 1; }
            int main(void)
            {
                volatile int sum = 0;
                for (int i = 0; i < 1000; i++)
                    sum += f(i);
                return 0;
            }""", "-O0", "-finstrument-functions")
        path = self.path("traced.fathom")
        subprocess.run([live.FATHOM, "trace", "-q", "-o", path, "--", program, "one", "two"], check=True)
        recording = live.Recording(path, None)
        self.assertEqual([row["title"] for row in recording.report("--by", "process")["processes"]],
                         ["called one two"])

    def test_one_sees_which_file_a_compiler_compiles(self):
        self.need("gcc")
        functions = "".join(f"int f{i}(int x) {{ return x * {i} + {i}; }}\n" for i in range(3000))
        for name in ("one", "two"):
            self.write(f"{name}.c", functions)
        options = [f"-DA_MACRO_THAT_IS_NOT_SHORT_{i}={i}" for i in range(20)]
        script = " && ".join(f"gcc -O1 {' '.join(options)} -c {name}.c" for name in ("one", "two"))
        recording = self.record(["sh", "-c", script], rate=1000)
        titles = self.titles(recording, "cc1")
        self.assertEqual(len(titles), 2, titles)
        for title, name in zip(titles, ("one.c", "two.c")):
            self.assertIn(f" {name}", title)
            self.assertTrue(title.startswith("cc1 "), title)

    def test_nginx_says_which_process_is_a_worker(self):
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        if nginx is None:
            self.skipTest("nginx is not installed")
        self.write("index.html", "x" * 10000)
        config = self.write("nginx.conf", f"""
            daemon off; worker_processes 2; pid {self.path("pid")}; error_log stderr;
            events {{ worker_connections 64; }}
            http {{
                access_log off; client_body_temp_path {self.path("a")}; proxy_temp_path {self.path("b")};
                fastcgi_temp_path {self.path("c")}; uwsgi_temp_path {self.path("d")};
                scgi_temp_path {self.path("e")};
                server {{ listen unix:{self.path("socket")}; root {self.folder}; }}
            }}""")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            recorded = pool.submit(self.record, [nginx, "-p", self.folder, "-c", config])
            self.ask_nginx(recorded)
            with open(self.path("pid"), encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGQUIT)
            recording = recorded.result()
        titles = [row["title"] for row in recording.report("--by", "process")["processes"]]
        self.assertIn("nginx: worker process", titles)
        self.assertTrue([title for title in titles if title and title.startswith("nginx: master process")], titles)

    def ask_nginx(self, recorded):
        """Until it has burned something."""
        client = self.need("curl")
        url = "http://localhost/index.html"
        command = [client, "-s", "-o", "/dev/null", "--unix-socket", self.path("socket"), *[url] * 2000]
        while not recorded.done():
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.1)


if __name__ == "__main__":
    live.main()
