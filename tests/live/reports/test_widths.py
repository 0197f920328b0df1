"""Every view of a report is as wide as it may be, and no wider."""

import os
import subprocess
import unicodedata

import live

WIDTHS = (60, 80, 100, 200, 250) if live.IS_LONG else (60, 100, 250)
RUN_AT = (60, 100)  # where the program has to be run again for each
VIEWS = ([], ["--by", "line"], ["--by", "module"], ["--by", "package"], ["--by", "region"], ["--by", "thread"], ["--by", "process"], ["--by", "program"],
         ["--tree"], ["--native"], ["--sort", "total"], ["--all"])
OF_FUNCTIONS = ("--callers", "--callees", "--lines")

CXX = """
#include <map>
#include <regex>
#include <string>
template <typename Key, typename Value> struct Table {
    std::map<Key, std::map<std::string, Value>> rows;
    __attribute__((noinline)) unsigned long count(const std::string &wanted, const std::regex &expression) {
        unsigned long sum = 0;
        for (int i = 0; i < 3000; i++) {
            rows[i % 97][wanted + std::to_string(i)] += i;
            sum += std::regex_match(wanted, expression);
        }
        return sum;
    }
};
int main() {
    Table<int, unsigned long> table;
    return table.count("abcdefghijkl", std::regex("[a-k]+[a-z]*")) == 1;
}
"""
PYTHON = """
import subprocess, threading
def a_function_with_a_name_that_is_longer_than_what_most_people_write_down(n):
    return sum(i * i for i in range(n)) + len("a string that makes the line of the source longer than any terminal" * 3)
class Worker(threading.Thread):
    def run(self):
        a_function_with_a_name_that_is_longer_than_what_most_people_write_down(200000)
worker = Worker(name="a thread that has a name")
worker.start()
worker.join()
subprocess.run(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; : " + "argument " * 40], check=True)
"""
WAITING = """
import sys, threading, time
lock = threading.Lock()
end = time.monotonic() + float(sys.argv[1])
def hold_a_lock_for_longer_than_others_would_like_to_wait_for_it():
    a_text = "a value that is longer than any terminal is wide, " * 8
    while time.monotonic() < end:
        with lock:
            sum(i * i for i in range(300000))
            time.sleep(0.01)
threads = [threading.Thread(target=hold_a_lock_for_longer_than_others_would_like_to_wait_for_it,
                            name=f"worker {i} of those that have a long name") for i in range(4)]
for thread in threads:
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
"""


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Widths(live.LiveTest):
    def shown(self, path, width, *view, command="report"):
        done = subprocess.run([live.FATHOM, command, *view, path], capture_output=True, timeout=120, check=False,
                              env={**os.environ, "COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().splitlines()

    def assert_fits(self, path, function, views=VIEWS, of_functions=OF_FUNCTIONS):
        of_functions = [[view, function] for view in of_functions]
        for width in WIDTHS:
            for view in (*views, *of_functions):
                with self.subTest(view=view, width=width):
                    lines = self.shown(path, width, *view)
                    self.assertEqual([line for line in lines if columns(line) > width], [])
            for options in ([], ["--accuracy"]):
                with self.subTest(width=width, command="info", options=options):
                    lines = self.shown(path, width, *options, command="info")
                    self.assertEqual([line for line in lines if columns(line) > width], [])

    def test_templates(self):
        source = self.write("table.cpp", CXX)
        subprocess.run([self.need("g++"), "-O1", "-g", "-o", self.path("table"), source], check=True, timeout=300)
        recording = self.record([self.path("table")], rate=4000, expect=None)
        self.assert_fits(recording.path, "count")
        rows = "\n".join(self.shown(recording.path, 100))
        self.assertRegex(rows, r"::[\w~]+\(…\)")
        whole = self.shown(recording.path, 100, "--full-names", "-n", "0")
        self.assertGreater(max(map(columns, whole)), 300)

    def test_python_threads_and_processes(self):
        program = self.write("a_folder_of_some_length/program_of_python.py", PYTHON)
        recording = self.record(["/usr/bin/python3", program], rate=4000)
        self.assert_fits(recording.path, "a_function_with_a_name_that_is_longer_than_what_most_people_write_down")

    def test_recordings_of_the_tests_programs(self):
        """The narrowest in each view, the others in the first one."""
        for name in ("templates", "recursion", "callers", "deep", "plt", "short_threads", "regions", "pipes", "alloca", "brief",
                     "thirds_stripped"):
            budget = () if name in ("regions", "pipes") else ("100",)  # milliseconds: for some hundred samples
            recording = self.record([os.path.join(live.WORKLOADS, name), *budget], rate=2000, expect=None)
            for width in WIDTHS:
                for view in VIEWS if width == WIDTHS[0] else ([], ["--tree"]):
                    with self.subTest(name, view=view, width=width):
                        lines = self.shown(recording.path, width, *view)
                        self.assertEqual([line for line in lines if columns(line) > width], [])

    def assert_each_fits(self, *command, most=0, least=4, widths=WIDTHS):
        """Whatever the exit code up to most: a doctor may find something wrong."""
        for width in widths:
            with self.subTest(command=command[0], width=width):
                done = subprocess.run([live.FATHOM, *command], capture_output=True, timeout=120, check=False,
                                      env={**os.environ, "COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
                self.assertLessEqual(done.returncode, most, done.stderr.decode())
                lines = (done.stdout + done.stderr).decode().splitlines()
                self.assertGreaterEqual(len(lines), least)
                self.assertEqual([line for line in lines if columns(line) > width], [])

    def test_the_wall_clock(self):
        program = self.write("program_that_waits.py", WAITING)
        paths = []
        for name in ("first", "second"):
            paths.append(self.path(name + ".fathom"))
            subprocess.run([live.FATHOM, "record", "-q", "--clock", "wall", "-o", paths[-1], "--", "/usr/bin/python3", program,
                            "0.3"], check=True, timeout=120, stdout=subprocess.DEVNULL)
        self.assert_fits(paths[0], "hold_a_lock_for_longer_than_others_would_like_to_wait_for_it",
                         (*VIEWS, ["--by", "state"], ["--state", "lock,io"], ["--blame"]), ("--callers", "--callees"))
        self.assert_each_fits("diff", *paths)

    def test_a_dump(self):
        program = self.write("a_folder_of_some_length/program_that_waits.py", WAITING)
        with subprocess.Popen(["/usr/bin/python3", program, "600"], stdout=subprocess.PIPE) as waiting:
            try:
                waiting.stdout.readline()
                for options in ([], ["--native"], ["--locals"]):
                    self.assert_each_fits("dump", *options, str(waiting.pid))
            finally:
                waiting.kill()

    def test_a_top(self):
        """Without a terminal: what the command prints itself is between the views."""
        program = self.write("a_folder_of_some_length/program_of_python.py", PYTHON)
        for options in ([], ["--clock", "wall"]):
            self.assert_each_fits("top", "-i", "0.2", *options, "--", "/usr/bin/python3", program)

    def test_what_commands_say_of_themselves(self):
        self.assert_each_fits("help")
        for command in ("record", "trace", "top", "dump", "report", "diff", "open", "export", "info", "module", "doctor"):
            self.assert_each_fits(command, "--help", least=2)

    def test_what_they_print_beside_reports(self):
        """A run's end, the comparison of runs, and of recordings by each of its rows."""
        program = self.write("a_folder_of_some_length/program_of_python.py", PYTHON)
        paths = [self.path(name) for name in ("old.fathom", "new.fathom")]
        command = ("/usr/bin/python3", program)
        for path in paths:
            self.assert_each_fits("record", "-o", path, "--", *command, widths=RUN_AT)
        for by in ("function", "line", "module", "package"):
            self.assert_each_fits("diff", "--by", by, *paths)
        self.assert_each_fits("trace", "-o", self.path("trace.fathom"), "--", *command, widths=RUN_AT)
        os.chdir(self.path(""))  # a short path for the commands that are to be copied
        for against in ([], ["--against", " ".join(command)]):
            self.assert_each_fits("record", "--runs", "2", *against, "--", *command, widths=RUN_AT)

    def test_a_doctor(self):
        self.assert_each_fits("doctor", "--seconds", "0", most=1)

    def test_traces(self):
        program = self.write("program_of_python.py", PYTHON)
        path = self.path("trace.fathom")
        subprocess.run([live.FATHOM, "trace", "-q", "-o", path, "--", "/usr/bin/python3", program], check=True, timeout=120)
        views = [view for view in VIEWS if view != ["--by", "line"]]
        self.assert_fits(path, "Worker.run", (*views, ["--min-max"], ["--sort", "calls"]), ("--callers", "--callees"))


if __name__ == "__main__":
    live.main()
