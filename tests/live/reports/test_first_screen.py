"""The function to look at is in the first lines of a report, under whatever frameworks it runs."""

import os
import re
import subprocess
import sys

import command_line
import live

FLASK = """
import flask
app = flask.Flask(__name__)
def normalize(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) % 65521
    return total
@app.route("/")
def handle():
    return flask.jsonify(value=normalize(40000))
client = app.test_client()
for i in range(60):
    assert client.get("/").status_code == 200
"""
LAYER = """
module Layer
  def self.call(request, &block) = Inner.new.dispatch([request], &block)
  class Inner
    def dispatch(requests) = requests.map { |request| yield request }
  end
end
"""
RUBY = """
require 'layer'
def tally(n)
  total = 0
  n.times { |i| total = (total * 31 + i) % 65521 }
  total
end
def handle(n) = tally(n)
200.times { Layer.call(10_000) { |n| handle(n) } }
"""
CXX = """
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
struct Row { std::string name; int id; };
__attribute__((noinline)) static bool by_distance(const Row &a, const Row &b) {
    unsigned x = 1, y = 1;
    for (int i = 0; i < 40; i++) { x = x * 31 + a.id + i; y = y * 31 + b.id + i; }
    return x != y ? x < y : a.name < b.name;
}
__attribute__((noinline)) static int rank(std::vector<Row> &rows) {
    std::stable_sort(rows.begin(), rows.end(), by_distance);
    return rows[0].id;
}
int main() {
    std::map<std::string, std::function<int(std::vector<Row> &)>> handlers{{"rank", rank}};
    unsigned sum = 0;
    for (int round = 0; round < 30; round++) {
        std::vector<Row> rows;
        for (int i = 0; i < 8000; i++) rows.push_back({"n" + std::to_string(i), i});
        sum += handlers["rank"](rows);
    }
    return sum == 1;
}
"""
LAMBDA = """
#include <algorithm>
#include <vector>
struct Row { unsigned id; };
int main() {
    unsigned sum = 0;
    for (unsigned round = 1; round < 40; round++) {
        std::vector<Row> rows(8000);
        for (unsigned i = 0; i < rows.size(); i++) rows[i].id = i * 7919;
        std::sort(rows.begin(), rows.end(), [&](const Row &a, const Row &b) {
            unsigned x = a.id, y = b.id;
            for (int i = 0; i < 40; i++) { x = x * 31 + round; y = y * 31 + round; }
            return x < y;
        });
        sum += rows[0].id;
    }
    return sum == 1;
}
"""
BURN = """
def burn(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) % 65521
    return total
burn(1500000)
"""
PERL = "my $t = 0; for my $i (1..3000000) { $t = ($t * 31 + $i) % 65521 } print $t, qq(\\n);"
FIRST_LINES = 10
# Of the head, with what is wrong: a busy machine has samples lost, and short ends of threads.
MOST_LINES_OF_HEAD = 9
# What a function has to have, in percent: a third or more of its program's samples, of which there are a hundred or more.
LEAST = 12


class FirstScreen(live.LiveTest):
    def hot_paths(self, path, width):
        shown = subprocess.run([live.FATHOM, "report", path], capture_output=True, timeout=120, check=True,
                               env={**os.environ, "COLUMNS": str(width), "LC_ALL": "C.UTF-8"}).stdout.decode()
        head, title, rest = shown.partition("hot paths of your code")
        self.assertTrue(title, shown)
        self.assertLessEqual(len(head.splitlines()), MOST_LINES_OF_HEAD, shown)
        return shown, rest.split("\n\n")[0].splitlines()[1:FIRST_LINES + 1]

    def assert_first(self, path, function, above):
        for width in (80, 120):
            shown, rows = self.hot_paths(path, width)
            self.assert_row(shown, rows, function, above)
        return shown

    def assert_one_screen(self, function, *arguments):
        """But for what is wrong with a recording, which has lines of its own."""
        for columns, rows in ((80, 24), (120, 40), (200, 60)):
            with self.subTest(columns=columns):
                shown, code = command_line.run_on_terminal(*arguments, folder=self.folder, rows=rows, columns=columns)
                self.assertEqual(code, 0, shown)
                lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.replace("\r\n", "\n")).rstrip("\n").split("\n")
                self.assertEqual([line for line in lines if len(line) > columns], [])
                remarks = [line for line in lines if re.match(r"(missing|names|note|timers) |         \S", line)]
                self.assertLess(len(lines) - len(remarks), rows, shown)
                title = next(i for i, line in enumerate(lines) if "hot paths of your code" in line)
                self.assertTrue([line for line in lines[title:title + FIRST_LINES] if function in line], shown)

    def assert_row(self, shown, rows, function, above):
        found = [float(row.split()[0]) for row in rows if re.search(rf"\b{function}\b", row)]
        self.assertTrue(found, shown)
        self.assertGreater(max(found), above, shown)

    def test_a_flask_request(self):
        run = subprocess.run([sys.executable, "-c", "import flask"], capture_output=True, check=False, timeout=300)
        if run.returncode != 0:
            self.skipTest("this Python has no flask")
        recording = self.record([sys.executable, self.write("app.py", FLASK)], rate=1000, expect=None)
        shown = self.assert_first(recording.path, "normalize", LEAST)
        self.assertRegex(shown, r"\[\d+ frames of \w+, \w+\] → .*handle|handle +app\.py", shown)
        packages = {row["name"]: row for row in recording.report("--by", "package")["packages"]}
        self.assertEqual(packages["[own code]"]["origin"], "own")
        self.assertEqual(packages["werkzeug"]["origin"], "package")
        self.assertGreater(packages["[own code]"]["self_ns"], packages["werkzeug"]["self_ns"])

    def test_ruby_under_a_gem(self):
        ruby = self.need("ruby")
        folder = self.path("gems/layer-1.2.0/lib")
        os.makedirs(folder)
        with open(os.path.join(folder, "layer.rb"), "w", encoding="utf-8") as file:
            file.write(LAYER)
        recording = self.record([ruby, "-I", folder, self.write("app.rb", RUBY)], rate=1000, expect=None)
        self.assert_first(recording.path, "tally", LEAST)
        packages = {row["name"]: row for row in recording.report("--by", "package")["packages"]}
        self.assertEqual(packages["layer"]["origin"], "package")

    def test_templates_of_the_standard_library(self):
        source = self.write("rank.cpp", CXX)
        subprocess.run([self.need("g++"), "-O1", "-g", "-o", self.path("rank"), source], check=True, timeout=300)
        recording = self.record([self.path("rank")], rate=1000, expect=None)
        shown = self.assert_first(recording.path, "by_distance", LEAST)
        self.assertRegex(shown, r"frames( of std)?\] → ")
        self.assert_one_screen("by_distance", "report", recording.path)
        self.assert_one_screen("by_distance", "record", "-o", self.path("again.fathom"), "--", self.path("rank"))

    def test_a_lambda_that_a_template_calls(self):
        source = self.write("order.cpp", LAMBDA)
        subprocess.run([self.need("g++"), "-O1", "-g", "-o", self.path("order"), source], check=True, timeout=300)
        recording = self.record([self.path("order")], rate=1000, expect=None)
        shown, rows = self.hot_paths(recording.path, 80)
        self.assert_row(shown, [row for row in rows if "order.cpp:10" in row], "lambda", 50)

    def test_packages_of_ones_own_have_their_whole_names(self):
        self.write("shop/__init__.py", "import shop.orders")
        self.write("shop/orders/__init__.py", BURN)
        app = self.write("app.py", "import shop")
        recording = self.record([sys.executable, app], rate=1000, expect=None)
        shown, _ = self.hot_paths(recording.path, 120)
        self.assertRegex(shown, r"import shop.orders → burn +orders/__init__\.py:2|import shop\.orders +orders/__init__\.py:1")

    def test_an_interpreter_without_frames_of_its_language_says_so(self):
        recording = self.record([self.need("perl"), "-e", PERL], rate=1000, expect=None)
        for width in (60, 80, 120):
            shown = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, timeout=120,
                                   check=True, env={**os.environ, "COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
            self.assertIn("hot paths of perl itself, not of Perl code", shown.stdout.decode())


if __name__ == "__main__":
    live.main()
