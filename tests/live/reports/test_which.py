"""Which process is which: programs and processes by name and title, and what they were doing."""

import concurrent.futures
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import live
from live_programs import BURN, SET_PRIVILEGES, ProgramsTest
from processes import end_process, wait_until

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


def has_title(recording):
    """While it is written, and before it is there."""
    try:
        return any(title for (title,) in recording.rows("SELECT title FROM processes"))
    except sqlite3.Error:
        return False


class ByProgram(ProgramsTest):

    def test_brief_processes_are_in_their_programs_sum(self):
        burn = self.build_text("burn", BURN)
        script = f"for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; {burn}; {burn}"
        recording = self.record(["sh", "-c", script], rate=100, expect=3)
        programs = {row["name"]: row for row in recording.report("--by", "program")["programs"]}
        self.assertEqual((programs["burn"]["processes"], programs["burn"]["brief"]), (2, 0), programs)
        true = programs["true"]
        self.assertEqual((true["processes"], true["unentered_reason"]), (10, None))
        self.assertGreaterEqual(true["brief"], 5)
        self.assertGreaterEqual(true["entered"] + true["brief"], 10)
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

    def test_a_name_that_the_kernel_cut_is_whole_by_the_title(self):
        # As Debian's python3-setproctitle does, which sets both.
        named = TITLES.replace("#include <unistd.h>", "#include <sys/prctl.h>\n#include <unistd.h>").replace(
            "burn();\n\t\t\treturn", 'prctl(PR_SET_NAME, argv[0]);\n\t\t\tburn();\n\t\t\treturn').replace(
            "titles: worker", "titles: attendant")
        # Its title needs room: the arguments'.
        recording = self.record([self.build_text("named", named), "--with-some-room-for-titles"], rate=100)
        programs = {row["name"]: row["processes"] for row in recording.report("--by", "program")["programs"]}
        self.assertEqual(programs.get("titles: attendant"), 3, programs)

    def test_a_traced_process_has_its_arguments(self):
        program = self.build_text("called", """
            #include <time.h>
            __attribute__((noinline)) int f(int i) { return i + 1; }
            int main(void)
            {
                volatile int sum = 0;
                for (int i = 0; i < 1000; i++)
                    sum += f(i);
                return getchar() != EOF;
            }""", "-O0", "-finstrument-functions", "-include", "stdio.h")
        path = self.path("traced.fathom")
        run = subprocess.Popen([live.FATHOM, "trace", "-q", "-o", path, "--", program, "one", "two"],
                               stdin=subprocess.PIPE)
        self.addCleanup(end_process, run)
        recording = live.Recording(path, run)
        wait_until(lambda: has_title(recording), 300, "the recorder does not look at the process")
        run.stdin.close()
        self.assertEqual(run.wait(timeout=300), 0)
        self.assertEqual([row["title"] for row in recording.report("--by", "process")["processes"]],
                         ["called one two"])

    def test_one_sees_which_file_a_compiler_compiles(self):
        self.need("gcc")
        functions = "".join(f"int f{i}(int x) {{ return x * {i} + {i}; }}\n" for i in range(700))
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
        self.assertTrue([title for title in titles if title and title.startswith("nginx: worker process")], titles)
        self.assertTrue([title for title in titles if title and title.startswith("nginx: master process")], titles)

    def ask_nginx(self, recorded):
        """Until it has burned something, and its titles have been read again since it began."""
        client = self.need("curl")
        url = "http://localhost/index.html"
        command = [client, "-s", "-o", "/dev/null", "--unix-socket", self.path("socket"), *[url] * 2000]
        until = time.monotonic() + 1
        while not recorded.done():
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0 and time.monotonic() > until:
                return
            time.sleep(0.1)


IN_OTHER_ROOT = ("in another root directory (chroot, a container), where fathom's agent cannot be loaded: "
                 "run fathom in there")
WITHOUT_FILES = "in a mount namespace without fathom's files: set TMPDIR to a folder that is there, too"


OF_OTHER_USER = "its user may not read fathom's agent: install fathom where every user can read it"


class OtherRights(ProgramsTest):
    """Programs that become another user, or take another root directory, and execute what is to be seen."""

    def burn(self):
        # Longer than the recorder's rounds, so that it is looked at.
        return self.build_text("burn", BURN.replace("100000000", "400000000"))

    def need_launcher(self, launcher):
        """Skips the test where it is not installed, or cannot do here what it is for."""
        self.need(launcher[0])
        done = subprocess.run([*launcher, "/bin/true"], capture_output=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            self.skipTest(f"{launcher[0]} does not work here: {done.stderr.decode(errors='replace').strip()}")

    def assert_entered(self, launcher):
        program = self.burn()
        recording = self.record([*launcher, program], expect=3, rate=1000)
        self.assert_sampled(recording, "main", least=0.8)
        burns = [row for row in recording.report("--by", "program")["programs"] if row["name"] == "burn"]
        self.assertEqual([(row["processes"], row["entered"]) for row in burns], [(1, 1)])
        self.assertEqual(self.reasons(recording).get("burn"), None)

    def assert_named(self, command, name, reason, **options):
        """Where no stacks are copied; else they are, of what no agent can be in."""
        recording = self.record(command, "--trigger", "timer", expect=None, rate=1000, **options)
        self.assertEqual(self.reasons(recording).get(name), {reason})
        recording = self.record(command, expect=None, rate=1000, **options)
        if recording.head()["trigger"] != "timer":
            self.assertIsNone(self.reasons(recording).get(name))
            self.assert_sampled(recording, "main", least=0.7)

    @unittest.skipIf(os.geteuid() != 0, "only root can become another user")
    def test_what_gives_up_its_user_and_executes_a_program_is_entered(self):
        user = pwd.getpwuid(live.ORDINARY_USER).pw_name
        for launcher in (SET_PRIVILEGES, (*SET_PRIVILEGES, "--no-new-privs"), ("runuser", "-u", user, "--"),
                         ("sudo", "-u", user), ("chroot", f"--userspec={live.ORDINARY_USER}", "/")):
            with self.subTest(launcher):
                self.need_launcher(launcher)
                self.assert_entered(launcher)
        with self.subTest("su"):
            self.need_launcher(("su", "-s", "/bin/sh", user, "-c"))
            self.assert_entered(("su", "-s", "/bin/sh", user, "-c"))

    def test_what_runs_in_a_sandbox_with_the_same_files_is_entered(self):
        for launcher in (("bwrap", "--bind", "/", "/"), ("bwrap", "--bind", "/", "/", "--unshare-all"),
                         ("unshare", "-Ur"), ("unshare", "-Urpf", "--mount-proc")):
            with self.subTest(launcher):
                self.need_launcher(launcher)
                self.assert_entered(launcher)

    def other_root(self):
        """A folder with what a program needs, and burn in it."""
        for path in [self.burn(), "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"]:
            place = "/burn" if path.endswith("burn") else path
            if not os.path.exists(path):
                self.skipTest(f"this machine has no {path}")
            os.makedirs(os.path.dirname(self.path("root") + place), exist_ok=True)
            shutil.copy(path, self.path("root") + place)
        return self.path("root")

    def test_what_runs_in_another_root_directory_is_named(self):
        root = self.other_root()
        for launcher in (("chroot", root), ("unshare", "-Ur", "chroot", root), ("bwrap", "--bind", root, "/")):
            with self.subTest(launcher):
                self.need(launcher[0])
                if self.run_bare(["/burn"], launcher).returncode != 3:
                    self.skipTest(f"{launcher[0]} does not work here")
                self.assert_named([*launcher, "/burn"], "burn", IN_OTHER_ROOT)

    def test_what_runs_without_our_files_is_named_and_entered_with_the_remedy(self):
        hidden, shared = self.path("hidden"), self.path("shared")
        os.mkdir(hidden)
        os.mkdir(shared)
        launcher = ("bwrap", "--bind", "/", "/", "--tmpfs", hidden)
        self.need_launcher(launcher)
        environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        program = self.burn()
        self.assert_named([*launcher, program], "burn", WITHOUT_FILES, env={**environment, "TMPDIR": hidden})
        recording = self.record([*launcher, program], expect=3, rate=1000, env={**environment, "TMPDIR": shared})
        self.assert_sampled(recording, "main", least=0.8)

    @unittest.skipIf(os.geteuid() != 0, "only root can become another user")
    def test_what_may_not_read_the_agent_is_named(self):
        self.need_launcher(SET_PRIVILEGES)
        private = self.path("private")
        os.mkdir(private, 0o700)
        shutil.copy(live.AGENT, private)
        environment = {**os.environ, "FATHOM_AGENT": private}
        self.assert_named([*SET_PRIVILEGES, self.burn()], "burn", OF_OTHER_USER, env=environment)
        # Python there has its native frames, and the reason why it has no others.
        python = self.need("/usr/bin/python3")
        recording = self.record([*SET_PRIVILEGES, python, "-c", "sum(i * i for i in range(8000000))"], rate=1000,
                                env=environment)
        if recording.head()["trigger"] != "timer":
            why = {row["why_not"] for row in recording.head()["interpreters"]}
            self.assertEqual(why, {f"native frames only, for no agent can be in it: {OF_OTHER_USER}"})

    def test_what_a_static_program_starts_is_named_with_that(self):
        shell = self.build_text("starter", """
            #include <stdlib.h>
            int main(int argc, char **argv) { return argc > 1 ? system(argv[1]) : 1; }""", "-static")
        self.assert_named([shell, self.burn()], "burn",
                          "started by starter, which was not entered: let that run fathom record")


if __name__ == "__main__":
    live.main()
