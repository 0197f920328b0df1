"""What became slower between two versions of a program, and what only seems so."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

import live

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "unit" / "export"))
import browser  # noqa: E402

PROGRAM = """
import sys
def steady(n):
    s = 0
    for i in range(n): s += i * i
    return s
def normalize(n):
    s = 0
    for i in range(n): s += i * i
    return s
for i in range(32):
    steady(50000)
    normalize(int(sys.argv[1]))
"""
RUNS = 4
# A processor takes up to twice as long for the same while others use what it shares: no run of the one is as long as any
# of the other then, and it takes no more runs than these to decide.
SLOWER = 8
OLD, NEW = 50000, SLOWER * 50000


class Diff(live.LiveTest):
    """Loops of a known length, eight times as long after the change: what differs is far beyond any load's effect on CPU time."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        program = os.path.join(cls.kept.name, "work.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for run in range(RUNS):
            for side, length in (("old", OLD), ("new", NEW)):
                subprocess.run([live.FATHOM, "record", "-q", "-o", f"{side}{run}.fathom", "--", "python3", program, str(length)],
                               cwd=cls.kept.name, check=True, timeout=120)

    def diff(self, *arguments, expect=0):
        done = subprocess.run([live.FATHOM, "diff", *arguments], cwd=self.kept.name, capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def side(self, name, count=RUNS):
        return [f"{name}{run}.fathom" for run in range(count)]

    def verdicts(self, *arguments):
        answer = json.loads(self.diff("--json", *arguments).stdout)
        self.assertEqual(answer["cannot_tell"], sum(row["verdict"] == "cannot_tell" for row in answer["functions"]))
        return answer, {row["name"]: row["verdict"] for row in answer["functions"]}

    def test_a_function_that_takes_eight_times_as_long_is_slower_and_it_is_only_that(self):
        answer, verdicts = self.verdicts(*self.side("old"), "--", *self.side("new"))
        self.assertTrue(answer["is_over_runs"])
        self.assertEqual(verdicts["normalize"], "slower")
        rows = {row["name"]: row for row in answer["functions"]}
        change = {name: rows[name]["after_ns"] - rows[name]["before_ns"] for name in ("normalize", "steady")}
        # Of twenty that did not change one is called so by chance, or as the processor's pace changed; not by as much.
        self.assertNotIn(verdicts["steady"], ("new", "gone"))
        self.assertLess(abs(change["steady"]), change["normalize"] / 2)
        # What is true is in it, or nearly: it is a 95 % interval.
        true = (SLOWER - 1) * rows["normalize"]["before_ns"]
        self.assertLess(rows["normalize"]["change_ns_low"], 2 * true)
        self.assertGreater(rows["normalize"]["change_ns_high"], true / 2)

    def test_one_recording_a_side_says_that_runs_were_not_compared(self):
        done = self.diff("old0.fathom", "new0.fathom")
        self.assertIn("Runs were not compared", done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 12)
        self.assertRegex(done.stdout, r"slower +normalize +work\.py:7")

    def test_a_limit_that_is_passed_is_exit_1_and_names_it(self):
        both = (*self.side("old"), "--", *self.side("new"))
        done = self.diff(*both, "--fail-if", "normalize>+20%", expect=1)
        self.assertIn("normalize>+20%: 'normalize' takes +", done.stderr)
        self.diff("--fail-if", "normalize>+9000%", *both)
        done = self.diff("--fail-if", "nowhere>+1%", *both)
        self.assertIn("nothing of that name", done.stderr)
        self.diff("--strict", "--fail-if", "nowhere>+1%", *both, expect=1)

    def test_what_could_not_have_been_seen_cannot_be_decided(self):
        # The same on both sides: a change that chance made would be slower, once in some tens of times.
        both = (*self.side("old", 2), "--", *self.side("old", 2))
        self.assertIn("cannot tell", self.diff("--fail-if", "steady>+0.001%", *both).stderr)
        self.diff("--strict", "--fail-if", "steady>+0.001%", *both, expect=1)

    def test_rows_are_lines_modules_and_packages_too(self):
        both = (*self.side("old"), "--", *self.side("new"))
        for by in ("line", "module", "package"):
            answer = json.loads(self.diff("--by", by, "--json", *both).stdout)
            self.assertTrue(any(row["verdict"] == "slower" for row in answer[f"{by}s"]), by)

    def test_traces_have_their_calls_compared(self):
        for name, length in (("t0", "100"), ("t1", "200")):
            subprocess.run([live.FATHOM, "trace", "-q", "-o", f"{name}.fathom", "--", "python3", "work.py", length],
                           cwd=self.kept.name, check=True, timeout=120)
        answer = json.loads(self.diff("--json", "t0.fathom", "t1.fathom").stdout)
        row = next(row for row in answer["functions"] if row["name"] == "normalize")
        self.assertEqual((answer["mode"], row["calls_before"], row["calls_after"]), ("trace", 32, 32))
        done = self.diff("t0.fathom", "old0.fathom", expect=2)
        self.assertIn("they cannot be compared", done.stderr)

    def test_lives_of_threads_are_not_compared_with_cpu_time(self):
        subprocess.run([live.FATHOM, "record", "-q", "--clock", "wall", "-o", "wall.fathom", "--", "sleep", "0.1"],
                       cwd=self.kept.name, check=True, timeout=120)
        self.assertIn("(--clock wall)", self.diff("old0.fathom", "wall.fathom", expect=2).stderr)
        self.diff("wall.fathom", "wall.fathom")

    def test_what_changed_is_drawn_with_the_widths_of_either_side(self):
        both = (*self.side("old"), "--", *self.side("new"))
        widths = {}
        for side in ("before", "after"):
            self.diff("-o", f"{side}.svg", "--widths", side, *both)
            image = xml.dom.minidom.parse(os.path.join(self.kept.name, f"{side}.svg"))
            titles = [title.firstChild.data for title in image.getElementsByTagName("title") if title.firstChild]
            changed = [title for title in titles if title.startswith("normalize\n")]
            self.assertRegex(changed[0], r"self .* → .*\+\d+.* %\nof the function in all: slower")
            boxes = [group for group in image.getElementsByTagName("g") if any(
                title.firstChild and title.firstChild.data.startswith("normalize\n") for title in group.getElementsByTagName("title"))]
            box = boxes[0].getElementsByTagName("rect")[0]
            widths[side] = float(box.getAttribute("width"))
            red, green, blue = (int(box.getAttribute("fill").lstrip("#")[i:i + 2], 16) for i in (0, 2, 4))
            self.assertGreater(red, max(green, blue))
        self.assertGreater(widths["after"], widths["before"])
        for _ in range(2):  # it may be made anew
            self.diff("-o", "page.html", *both)
        with open(os.path.join(self.kept.name, "page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<svg"), 2)
        self.assertIn('<div id="before" hidden>', page)
        self.assertIn("normalize", page)
        with open(os.path.join(self.kept.name, "mine.html"), "w", encoding="utf-8") as file:
            file.write("<p>mine</p>")
        self.assertIn("mine.html is there", self.diff("-o", "mine.html", *both, expect=2).stderr)

    def test_the_page_zooms_and_searches(self):
        executable = browser.find_chromium()
        if executable is None:
            self.skipTest("chromium is not installed")
        self.diff("-o", "zoom.html", *self.side("old"), "--", *self.side("new"))
        with browser.Browser(executable) as page:
            page.open(f"file://{self.kept.name}/zoom.html")
            of = ("[...document.querySelectorAll('#after g')].find((g) => g.querySelector('title')"
                  ".textContent.startsWith('normalize\\n'))")
            width = f"Number({of}.querySelector('rect').getAttribute('width'))"
            whole = page.evaluate("Number(document.querySelector('#after g rect').getAttribute('width'))")
            first = page.evaluate(width)
            self.assertLess(first, 0.97 * whole)
            x, y = page.evaluate(f"(() => {{ const at = {of}.querySelector('rect').getBoundingClientRect();"
                                 " return [at.x + at.width / 2, at.y + at.height / 2]; })()")
            page.click(x, y)
            self.assertAlmostEqual(page.evaluate(width), whole, places=1)
            self.assertGreater(page.evaluate("document.querySelectorAll('#after g.caller').length"), 0)
            page.press("Escape")
            self.assertAlmostEqual(page.evaluate(width), first, places=1)
            page.evaluate(f"{of}.focus()")
            page.press("Enter")
            self.assertAlmostEqual(page.evaluate(width), whole, places=1)
            page.press("Backspace")
            self.assertLess(page.evaluate(width), whole)
            page.press("/")
            page.type("NORMALIZE")
            share = page.evaluate("document.getElementById('found').textContent")
            self.assertEqual(share, f"{100 * first / whole:.1f} % of the time after")
            self.assertGreater(page.evaluate("document.querySelectorAll('#after g.match').length"), 0)
            page.press("Escape")
            page.press("t")
            self.assertTrue(page.evaluate("document.getElementById('after').hidden"))
            self.assertEqual(page.complaints, [])
            self.assertEqual([url for url in page.requests if not url.startswith(("file:", "data:", "about:"))], [])

    def test_the_page_is_as_wide_as_its_window_and_dark_where_that_is_asked_for(self):
        executable = browser.find_chromium()
        if executable is None:
            self.skipTest("chromium is not installed")
        self.diff("-o", "wide.html", *self.side("old"), "--", *self.side("new"))
        with browser.Browser(executable) as page:
            for scheme, background in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(23, 23, 23)")):
                page.prefer(scheme)
                page.open(f"file://{self.kept.name}/wide.html")
                self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), background)
                is_bare = page.evaluate("getComputedStyle(document.querySelector('svg')).filter") == "none"
                self.assertEqual(is_bare, scheme == "light")
            for width in (360, 500, 1500):
                page.resize(width, 700)
                page.settle()
                root = "document.documentElement"
                self.assertLessEqual(page.evaluate(f"{root}.scrollWidth"), page.evaluate(f"{root}.clientWidth"))
                end = page.evaluate("document.querySelector('#after g rect').getBoundingClientRect().right")
                self.assertAlmostEqual(end, page.evaluate(f"{root}.clientWidth") - 10, delta=3)
            x, y = page.evaluate("(() => { const at = document.querySelector('#after g rect').getBoundingClientRect();"
                                 " return [at.x + 5, at.y + 5]; })()")
            page.move(x, y)
            page.settle()
            self.assertRegex(page.evaluate("document.getElementById('details').textContent"), r"^all · total .* → ")
            self.assertEqual(page.complaints, [])

    def test_mistakes_are_said(self):
        for arguments, words in ((("old0.fathom",), "fathom diff OLD… -- NEW…"), (("old0.fathom", "--"), "behind --"),
                                 (("--fail-if", "total", "old0.fathom", "new0.fathom"), "total>+5%"),
                                 (("-o", "x.png", "old0.fathom", "new0.fathom"), "-o x.svg"),
                                 (("--by", "thread", "old0.fathom", "new0.fathom"), "package"),
                                 (("old0.fathom", "gone.fathom"), "gone.fathom")):
            self.assertIn(words, self.diff(*arguments, expect=2).stderr)


if __name__ == "__main__":
    live.main()
