"""The examples in the README and in the manual pages, run as they are written; and the options in
the manual pages and the completions, which must be those there are."""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import live

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
PAGES = sorted(glob.glob(os.path.join(ROOT, "docs", "man", "*.1")))
COMMANDS = ("record", "trace", "top", "dump", "report", "diff", "open", "export", "info", "module", "doctor", "help", "version")

PROGRAM = """
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void work(unsigned long n) { while (n--) sink += n; }
int main(int argc, char **argv) { work(argc > 1 ? strtoul(argv[1], 0, 10) * 30000000UL : 60000000UL); }
"""
MAKEFILE = "all: a b\na b: ; ./program 1\n.PHONY: all a b\n"

SERVER = """
def normalize(rows):
    return [str(row).strip().title() for row in rows]
def handle():
    return normalize(range(300000))
for _ in range(5):
    handle()
"""
TEST_APP = """
import unittest
def normalize(rows):
    return [str(row).strip().title() for row in rows]
class App(unittest.TestCase):
    def test_it(self):
        self.assertEqual(len(normalize(range(500000))), 500000)
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands_in(text):
    """What stands behind "$ " in a block; lines that follow belong to it while a quote is open."""
    commands = []
    is_open = False
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif is_open:
            commands[-1] += "\n" + line
        else:
            continue
        is_open = commands[-1].count("'") % 2 == 1
    return commands


def examples_of_page(path):
    page = read(path).replace("\\e", "\\").replace("\\-", "-")
    return [command for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", page, re.S | re.M)
            for command in commands_in(block)]


def examples_of_markdown(path):
    return [command for block in re.findall(r"^```sh\n(.*?)^```", read(path), re.S | re.M)
            for command in commands_in(block)]


def options_of(command):
    """The long and short options that fathom itself lists."""
    usage = subprocess.run([live.FATHOM, command, "--help"], capture_output=True, check=True, timeout=300)
    lines = [line for line in usage.stdout.decode().splitlines() if re.match(r"^  ( |-)", line)]
    return set(re.findall(r"(?<![\w-])--[a-z-]+", "\n".join(line[:26] for line in lines))) | {"--help"}


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fathom-docs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("a C compiler is needed for the program that the examples record")
        readme = read(os.path.join(ROOT, "README.md"))
        programs = [(name, text) for text, name in
                    re.findall(r"^```(?:python|ruby)\n(# (\S+)\n.*?)^```", readme, re.S | re.M)]
        self.assertEqual([name for name, _ in programs], ["app.py", "shop.rb", "worker.py", "steps.py"])
        for name, content in (("program.c", PROGRAM), ("Makefile", MAKEFILE), *programs):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        subprocess.run([compiler, "-g", "-O1", "-o", "program", "program.c"], cwd=self.folder, check=True,
                       timeout=300)
        path = os.path.dirname(os.path.abspath(shutil.which(live.FATHOM) or live.FATHOM))
        self.environment = {**os.environ, "PATH": path + ":" + os.environ["PATH"]}

    def run_all(self, examples):
        self.assertGreater(len(examples), 0)
        for example in examples:
            with self.subTest(example):
                missing = [word for word in ("python3", "ruby", "make") if word in example and not shutil.which(word)]
                if missing:
                    self.skipTest(f"{missing[0]} is not installed")
                done = subprocess.run(["bash", "-o", "pipefail", "-c", example], cwd=self.folder,
                                      env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))

    def test_those_in_the_readme_work(self):
        self.run_all(examples_of_markdown(os.path.join(ROOT, "README.md")))

    def test_those_in_the_recipes_work(self):
        for name, content in (("server.py", SERVER), ("test_app.py", TEST_APP)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        self.run_all(examples_of_markdown(os.path.join(ROOT, "docs", "recipes.md")))

    def test_words_of_commands_in_the_documents_are_known(self):
        """Of examples that a test cannot run (a container, a server that runs): their command and options."""
        for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]:
            for line in re.findall(r"(?:^    |`)(fathom [a-z][^`\n]*)", read(path), re.M):
                word, *rest = line.split("#")[0].split(" -- ")[0].split()[1:]
                with self.subTest(line):
                    self.assertIn(word, COMMANDS)
                    options = options_of(word) if word not in ("help", "version", "module") else set()
                    self.assertEqual([option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", " ".join(rest))
                                      if option not in options], [])

    def test_those_in_the_manual_pages_work(self):
        self.assertEqual(len(PAGES), 12)
        self.run_all([example for page in PAGES if "record" in page for example in examples_of_page(page)])
        subprocess.run([live.FATHOM, "record", "-q", "./program"], cwd=self.folder, check=True, timeout=300)
        for page in PAGES:
            with self.subTest(page):
                self.run_all(examples_of_page(page))

    def test_the_report_in_the_readme_is_what_a_report_looks_like(self):
        shown = re.search(r"^```\n(command .*?)^```", read(os.path.join(ROOT, "README.md")), re.S | re.M).group(1)
        self.run_all(examples_of_markdown(os.path.join(ROOT, "README.md"))[:1])
        done = subprocess.run([live.FATHOM, "report"], cwd=self.folder, capture_output=True, check=True, timeout=300)
        printed = done.stdout.decode()

        def outline(report):
            """What does not depend on the run: the words of the head, the columns, the commands, the paths."""
            head, _, tables = report.partition("total %")
            words = [line.split("  ")[0] for line in head.splitlines() if re.match(r"(?!note|missing)[a-z]", line)]
            columns = [line.split() for line in ("total %" + tables).splitlines() if " %  " in line and "file:line" in line]
            # Where python3 is a script that starts others, there are programs to distinguish.
            return words, columns, bool(re.search("fathom report --by (package|program)", tables))
        self.assertEqual(outline(shown), outline(printed))
        for report in (shown, printed):
            self.assertRegex(report, r"math\.sin \[math\b")
            self.assertRegex(report, r"<module> → <listcomp>( → is_prime)? +app\.py:\d+")

    def test_the_trace_in_the_readme_has_each_call_of_the_thread(self):
        """As it is shown: the head's words, the columns, and as many calls."""
        page = read(os.path.join(ROOT, "README.md"))
        shown = re.search(r"^```\n([\d.]+ ms of CPU time .* calls traced: .*?)^```", page, re.S | re.M).group(1)
        self.run_all([example for example in examples_of_markdown(os.path.join(ROOT, "README.md")) if "worker" in example])
        done = subprocess.run([live.FATHOM, "report", "-n", "0", "worker.fathom"], cwd=self.folder, capture_output=True,
                              check=True, timeout=300)
        printed = done.stdout.decode()
        for report in (shown, printed):
            for row in (r"^ *1 .* Worker\.run +\S*worker\.py:7$", r"^ *100,000 .* math\.sin +-$"):
                self.assertRegex(report, re.compile(row, re.M))

        def columns(report):
            return next(line.split() for line in report.splitlines() if "self time" in line)
        self.assertEqual(columns(shown), columns(printed))


class Options(unittest.TestCase):
    def test_each_is_in_its_manual_page_and_none_else(self):
        for command in ("record", "trace", "report", "diff", "open", "export", "info", "doctor"):
            page = read(os.path.join(ROOT, "docs", "man", f"fathom-{command}.1"))
            items = re.findall(r"^\.It (Fl .*)$", page, re.M)
            described = {"--" + name for item in items for name in re.findall(r"Fl (?:\w , )?-([a-z-]+)", item)}
            described |= {"--" + name for item in items for name in re.findall(r", -([a-z-]+)", item)}
            with self.subTest(command):
                self.assertEqual(described, options_of(command))

    def test_each_is_completed_by_bash(self):
        bash = shutil.which("bash")
        script = read(os.path.join(ROOT, "completion", "fathom.bash"))

        def complete(*words):
            words = ("fathom", *words)
            ask = (script + "\nCOMP_WORDS=(" + " ".join(f"'{word}'" for word in words) + ")\n"
                   f"COMP_CWORD={len(words) - 1}\ncompopt() {{ :; }}\n_fathom\n"
                   'printf "%s\\n" "${COMPREPLY[@]}"')
            done = subprocess.run([bash, "-c", ask], capture_output=True, timeout=300, cwd="/", check=True)
            self.assertEqual(done.stderr, b"")
            return set(done.stdout.decode().split())
        self.assertEqual(complete(""), {*COMMANDS, "--help", "--version"})
        for command in ("record", "trace", "top", "dump", "report", "diff", "open", "export", "info", "doctor"):
            with self.subTest(command):
                self.assertEqual(complete(command, "--"), options_of(command))
        self.assertEqual(complete("report", "--by", ""), {"function", "line", "module", "package", "region", "state", "thread", "process", "program"})
        self.assertEqual(complete("report", "--by", "=", "li"), {"line"})
        self.assertEqual(complete("export", "-f", "s"), {"speedscope", "svg"})
        self.assertEqual(complete("help", "re"), {"record", "report"})
        self.assertIn("/bin", complete("record", "--", "ls", "/bi"))

    def test_each_is_completed_by_zsh(self):
        script = read(os.path.join(ROOT, "completion", "_fathom"))
        for command in ("record", "trace", "top", "dump", "report", "diff", "open", "export", "info", "doctor"):
            block = re.search(rf"^\t\t{command}\)\n(.*?)^\t\t\t;;", script, re.S | re.M).group(1)
            found = set(re.findall(r"(--[a-z-]+)=?\[", block)) | set(re.findall(r",(--[a-z-]+)=?}", block))
            found |= {"--color"} if "$color" in block else set()
            found |= {"--help"} if "$help" in block else set()
            with self.subTest(command):
                self.assertEqual(found, options_of(command))
        zsh = shutil.which("zsh")
        if not zsh:
            self.skipTest("zsh is not installed: its completion was read but not parsed by it")
        subprocess.run([zsh, "-n", os.path.join(ROOT, "completion", "_fathom")], check=True, timeout=300)

    def test_each_is_completed_by_fish(self):
        path = os.path.join(ROOT, "completion", "fathom.fish")
        script = read(path)
        for command in ("record", "trace", "top", "dump", "report", "diff", "open", "export", "info", "doctor"):
            found = {"--help"}
            for line in re.findall(r"^complete -c fathom -n '__fish_seen_subcommand_from ([a-z ]+)' (.*)$", script, re.M):
                found |= {"--" + name for name in re.findall(r"-l ([a-z-]+)", line[1]) if command in line[0].split()}
            with self.subTest(command):
                self.assertEqual(found, options_of(command))
        fish = shutil.which("fish")
        if not fish:
            self.skipTest("fish is not installed: its completion was read but not parsed by it")
        done = subprocess.run([fish, "--no-config", "-c", f"source {path}; complete -C 'fathom export -f sp'"],
                              check=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout.decode().split("\t")[0].strip(), "speedscope")

    def test_manual_pages_are_clean(self):
        if not shutil.which("man"):
            self.skipTest("man-db is not installed")
        for page in PAGES:
            with self.subTest(page):
                done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, timeout=300,
                                      env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(b"EXAMPLES", done.stdout)

    def test_help_opens_the_manual_page_on_a_terminal(self):
        if not shutil.which("man") or not shutil.which("script"):
            self.skipTest("man and script are needed")
        installed = tempfile.mkdtemp(prefix="fathom-docs-")
        self.addCleanup(shutil.rmtree, installed, ignore_errors=True)
        for folder in ("bin", "share/man/man1"):
            os.makedirs(os.path.join(installed, folder))
        shutil.copy(live.FATHOM, os.path.join(installed, "bin", "fathom"))
        for page in PAGES:
            shutil.copy(page, os.path.join(installed, "share", "man", "man1"))
        done = subprocess.run(["script", "-qec", f"{installed}/bin/fathom help record", "/dev/null"],
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL,
                              env={**os.environ, "MANPAGER": "cat", "PAGER": "cat", "TERM": "dumb"})
        self.assertIn(b"FATHOM-RECORD(1)", done.stdout)


if __name__ == "__main__":
    live.main()
