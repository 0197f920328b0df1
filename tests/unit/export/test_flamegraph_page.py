#!/usr/bin/env python3
"""The flame graph's page in a browser: what is drawn, what a person can do, what must not happen."""
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote

import browser
import exported

SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = "</script><img src=x onerror=alert(1)>"


class Page(unittest.TestCase):
    # One for all classes: to start a browser takes seconds.
    folder = page = None

    @classmethod
    def setUpClass(cls):
        chromium = browser.find_chromium()
        if chromium is None:
            raise unittest.SkipTest("chromium is not installed")
        if Page.page is None:
            Page.begin(chromium)

    @staticmethod
    def begin(chromium):
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        Page.folder = pathlib.Path(folder.name)
        for profile in exported.PROFILES:
            name = profile.replace(" ", "-") + ".html"
            (Page.folder / name).write_bytes(exported.export(profile, "flamegraph"))
        Page.page = browser.Browser(chromium)
        unittest.addModuleCleanup(Page.page.__exit__)

    def setUp(self):
        self.page.complaints.clear()
        self.page.prefer("light")

    def tearDown(self):
        self.assertEqual(self.page.complaints, [])
        self.assertEqual([url for url in self.page.requests
                          if not url.startswith(f"file://{self.folder}/")
                          and not url.startswith(("data:", "about:"))], [])

    def open(self, profile, state=""):
        self.page.open(f"file://{self.folder}/{profile.replace(' ', '-')}.html{state}")

    def text(self, selector):
        return self.page.evaluate(f"document.querySelector({selector!r}).innerText")

    def press_button(self, selector):
        self.page.evaluate(f"document.querySelector({selector!r}).click()")
        self.page.settle()

    def node(self, name):
        """The first node of a function."""
        node = self.page.evaluate(
            "(() => { for (let i = 0; i < fathom.nodeCount; i++)"
            f" if (fathom.functionAt(i).name === {name!r}) return i; return -1; }})()")
        self.assertGreaterEqual(node, 0, name)
        return node

    def box(self, node):
        """x, y, width and height on the page."""
        return self.page.evaluate(
            "(() => { const at = document.getElementById('canvas').getBoundingClientRect();"
            f" const box = fathom.boxOf({node});"
            " return [box.x + at.left, box.y + at.top, box.width, box.height]; })()")

    def middle(self, name):
        x, y, width, height = self.box(self.node(name))
        return x + width / 2, y + height / 2

    def color(self, name):
        """The colour of a box near its right end, where no label is."""
        x, y, width, height = self.box(self.node(name))
        # Read from a copy: reading makes a browser draw a canvas in another way.
        return self.page.evaluate(
            "(() => { const c = document.getElementById('canvas'), at = c.getBoundingClientRect();"
            " const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });"
            f" pixel.drawImage(c, at.left - {x + width - 4}, at.top - {y + height / 2});"
            " return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3); })()")

    def address(self):
        return self.page.evaluate("location.hash")


class Drawing(Page):
    def test_the_head_says_what_was_recorded(self):
        self.open("mixed")
        self.assertEqual(self.text("#command"), "./prog -n 3")
        self.assertIn("10 samples · 12.0 ms of CPU time · 12.0 ms of wall time · 2 threads", self.text("#facts"))
        self.assertIn("2 samples were lost.", self.text("#warnings"))
        self.assertIn("the CPU time of its function and of everything it called there", self.text("#meaning"))
        self.assertEqual(self.page.evaluate("document.title"), "./prog -n 3 – flame graph")

    def test_widths_are_shares(self):
        self.open("mixed")
        whole = self.box(0)[2]
        for name, share in (("main", 10 / 12), ("sort", 7 / 12), ("swap", 4 / 12), ("[start-up]", 2 / 12)):
            self.assertAlmostEqual(self.box(self.node(name))[2] / whole, share, places=6)

    def test_own_code_packages_and_what_was_not_sampled_are_coloured_apart(self):
        self.open("mixed")
        colors = {name: tuple(self.color(name)) for name in
                  ("main", "libz.so.1+0x2f10", "vfs_read", "[start-up]")}
        self.assertEqual(len(set(colors.values())), len(colors))
        self.assertNotIn((255, 255, 255), colors.values())
        red, green, blue = colors["[start-up]"]
        self.assertTrue(red == green == blue, colors)
        red, green, blue = self.color("Job.run")
        self.assertTrue(red > green > blue)

    def test_the_legend_begins_with_ones_own_code(self):
        self.open("mixed")
        names = self.page.evaluate("[...document.querySelectorAll('#legend b')].map(b => b.textContent)")
        self.assertEqual(names[0], "your code")
        self.assertGreater(len(names), 2)

    def test_the_image_has_the_same_colours(self):
        for profile in ("mixed", "recursion"):
            self.open(profile)
            groups = ElementTree.fromstring(exported.export(profile, "svg")).iter(SVG + "g")
            for group in list(groups)[1:]:
                name = group.find(SVG + "title").text.split("\n")[0].split(", inlined")[0]
                color = self.page.evaluate(f"fathom.normalColorOf({self.node(name)}).match(/\\d+/g).map(Number)")
                self.assertEqual(group.find(SVG + "rect").get("fill"), "#%02x%02x%02x" % tuple(color), name)

    def test_hovering_shows_everything_about_a_box(self):
        self.open("mixed")
        self.page.move(*self.middle("swap"))
        self.page.settle()
        said = self.text("#details")
        for part in ("swap", "inlined into sort", "src/swap.h:3", "/opt/prog", "package prog", "4.00 ms", "33.3 %", "samples 4"):
            self.assertIn(part, said)
        self.page.move(5, 5)
        self.page.settle()
        self.assertIn("Everything that is shown", self.text("#details"))

    def test_nothing_that_is_shown_of_a_box_covers_another(self):
        self.open("mixed")
        before = self.box(0)
        self.page.move(*self.middle("swap"))
        self.page.settle()
        self.assertEqual(self.box(0), before)
        parts = self.page.evaluate("['details', 'graph', 'list'].map(id => "
                                   "document.getElementById(id).getBoundingClientRect().toJSON())")
        for above, below in zip(parts, parts[1:]):
            self.assertLessEqual(above["bottom"], below["top"])

    def test_the_list_counts_a_recursive_call_once(self):
        self.open("recursion")
        rows = self.page.evaluate("[...document.querySelectorAll('#rows tr')].map("
                                  "r => [...r.children].map(cell => cell.textContent).join('\\t'))")
        self.assertEqual(rows, ["100 %\t7.00 ms\t100 %\t7.00 ms\tfact⇅\t\tprog",
                                "0 %\t0 ns\t100 %\t7.00 ms\tmain⇅\t\tprog"])

    def test_the_list_has_each_names_buttons_in_one_line(self):
        self.open("mixed")
        self.page.evaluate("document.querySelector('#rows td:nth-child(5) button').textContent = 'a_name_'.repeat(40)")
        buttons = self.page.evaluate("[...document.querySelectorAll('#rows td:nth-child(5)')].map("
                                     "cell => [...cell.children].map(b => b.getBoundingClientRect().toJSON()))")
        for name, around in buttons:
            self.assertAlmostEqual(name["top"], around["top"], delta=4)
            self.assertLessEqual(around["right"], name["left"])

    def test_a_deep_stack_is_scrolled_through(self):
        self.open("deep")
        root_top = self.box(0)[1]
        graph = self.page.evaluate("document.getElementById('graph').getBoundingClientRect().toJSON()")
        self.assertAlmostEqual(root_top + 20, graph["bottom"], delta=1)
        self.page.evaluate("document.getElementById('graph').scrollTop = 0")
        self.page.settle()
        leaf = 20000
        self.assertAlmostEqual(self.box(leaf)[1], graph["top"], delta=1)
        x, y, width, height = self.box(leaf)
        self.page.click(x + width / 3, y + height / 2)
        self.assertEqual(self.address(), f"#zoom={leaf}")
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#path button').length"), 39)

    def test_long_names_are_shown_without_what_is_in_their_brackets(self):
        self.open("long names")
        self.assertEqual(self.page.evaluate(
            "[...document.querySelectorAll('#rows button:not(.around)')].map(b => b.innerText)"), [
                "std::map<…>::at(…)",
                "std::basic_ostream<…>& std::operator<< <…>(…)",
                "bool std::operator< <…>(…)",
                "(anonymous namespace)::Pool<…>::take(…)",
                "<…>::index",
                "void very::long_name::without::any::brackets_at_all",
                "call(…)::operator()() const",
                "a name whose brackets > do not ( match < at all ) here"])
        self.assertEqual(self.page.evaluate("document.querySelector('#rows button').title"),
                         "std::map<int, std::string>::at(int const&)")

    def test_an_empty_profile_says_so(self):
        self.open("empty")
        self.assertIn("nothing to show", self.text("#meaning"))

    def work(self):
        return self.page.evaluate("[fathom.work.looked, fathom.work.drawn]")

    def test_what_200000_nodes_take_is_what_can_be_seen_of_them(self):
        self.open("large")
        nodes = self.page.evaluate("fathom.nodeCount")
        self.assertGreater(nodes, 150000)
        for state in ("", "#zoom=1", "#search=function_12", "#threads=t2", "#view=inverted", "#view=sandwich"):
            with self.subTest(state):
                self.open("large", state)
                looked, drawn = self.work()
                self.assertGreater(drawn, 100)
                # Each box that is wide enough has eight callees at most; trees that are made for a view leave out
                # what is below 1/20,000 of the time.
                self.assertLess(drawn, nodes / 40)
                self.assertLess(looked, nodes / 5)
        self.open("large")
        self.page.click(*self.middle("function_1"))
        self.assertEqual(self.text("#path [aria-current]"), "function_1")


class Using(Page):
    def test_a_click_zooms_and_back_and_reset_undo_it(self):
        self.open("mixed")
        self.page.click(*self.middle("sort"))
        self.assertEqual(self.text("#path"), "all\n›\nmain\n›\nsort")
        self.assertEqual(self.box(self.node("sort"))[2], self.box(0)[2])
        self.assertAlmostEqual(self.box(self.node("swap"))[2] / self.box(0)[2], 4 / 7)
        self.assertEqual(self.address(), f"#zoom={self.node('sort')}")
        self.page.evaluate("history.back()")
        self.page.wait_for("location.hash === '' && fathom.view.zoom === 0")
        self.page.click(*self.middle("sort"))
        self.press_button("#reset")
        self.assertEqual(self.text("#path"), "all")
        self.assertAlmostEqual(self.box(self.node("sort"))[2] / self.box(0)[2], 7 / 12)

    def test_a_caller_in_the_path_can_be_gone_back_to(self):
        self.open("mixed", "#zoom=3")
        self.press_button("#path button:nth-of-type(2)")
        self.assertEqual(self.text("#path [aria-current]"), "main")

    def test_a_search_marks_what_it_finds_and_shows_its_share(self):
        self.open("mixed")
        plain = self.color("swap")
        self.page.evaluate("document.getElementById('search').focus()")
        self.page.type("SWA")
        self.assertEqual(self.text("#matched"), "33.3 % matched")
        self.assertNotEqual(self.color("swap"), plain)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#rows tr').length"), 1)
        self.page.press("Escape")
        self.assertEqual(self.text("#matched"), "")
        self.assertEqual(self.color("swap"), plain)

    def test_nested_matches_are_not_counted_twice(self):
        self.open("recursion", "#search=fact")
        self.assertEqual(self.text("#matched"), "100 % matched")

    def test_searches_can_be_exact_patterns_or_of_a_module(self):
        for query, matched in (('"sort"', "58.3 % matched"), ("/^s(ort|wap)$/", "58.3 % matched"),
                               ("module:libz", "8.3 % matched"), ("language:ruby", "8.3 % matched"),
                               ("file:job.py", "8.3 % matched"),
                               ("job.py", "8.3 % matched"), ("libz", "8.3 % matched"),
                               ("/opt/pro", "83.3 % matched"), ("own:", "8.3 % matched"), ("/(/", "nothing matches"),
                               ("no such name", "nothing matches")):
            with self.subTest(query):
                self.open("mixed", "#search=" + quote(query))
                self.assertEqual(self.text("#matched"), matched)

    def choose_view(self, name):
        self.page.evaluate("(() => { const s = document.getElementById('view'); s.value = " + repr(name) + ";"
                           " s.dispatchEvent(new Event('change')); })()")
        self.page.settle()

    def test_the_graph_can_stand_on_its_head(self):
        self.open("mixed")
        self.assertGreater(self.box(0)[1], self.box(self.node("main"))[1])
        self.choose_view("icicle")
        self.assertLess(self.box(0)[1], self.box(self.node("main"))[1])
        self.assertEqual(self.address(), "#view=icicle")
        self.page.click(*self.middle("sort"))
        self.assertEqual(self.text("#path [aria-current]"), "sort")

    def boxes(self):
        """{(function, what it hangs on): share of everything}, by the figures of the boxes."""
        return {tuple(key): share for *key, share in self.page.evaluate(
            "(() => { const f = fathom, rows = []; const whole = f.boxOf(0).width;"
            " for (let i = 1; i < f.nodeCount; i++) { const b = f.boxOf(i);"
            "  rows.push([f.functionAt(i).name, Math.sign(b.y - f.boxOf(0).y), b.width / whole]); } return rows; })()")}

    def test_inverted_begins_with_what_burned_the_time(self):
        self.open("mixed")
        self.choose_view("inverted")
        self.assertEqual(self.page.evaluate("fathom.functionAt(1).name"), "swap")
        self.assertAlmostEqual(self.box(1)[2] / self.box(0)[2], 4 / 12)
        self.assertEqual(self.page.evaluate("fathom.functionAt(2).name"), "sort")
        self.assertEqual(self.page.evaluate("fathom.functionAt(3).name"), "main")
        self.assertEqual(self.box(3)[2], self.box(1)[2])
        x, y, width, height = self.box(2)
        self.page.click(x + width / 2, y + height / 2)
        self.assertEqual(self.text("#path"), "all\n›\nswap\n›\nsort")

    def test_a_sandwich_has_callers_above_and_callees_below(self):
        self.open("mixed")
        self.press_button("#rows tr:nth-child(2) .around")
        self.assertEqual(self.text("#path"), "sort")
        self.assertAlmostEqual(self.boxes()[("main", -1)], 1)
        self.assertAlmostEqual(self.boxes()[("swap", 1)], 4 / 7)
        self.page.click(*self.middle("swap"))
        self.assertEqual(self.text("#path"), "swap")
        self.assertEqual(set(self.boxes()), {("main", -1), ("sort", -1)})
        self.page.evaluate("history.back()")
        self.page.wait_for("document.querySelector('#path').innerText === 'sort'")

    def test_a_sandwich_of_a_recursive_function_counts_it_once(self):
        self.open("recursion", "#view=sandwich")
        self.assertEqual(self.text("#path"), "fact")
        self.assertEqual(self.boxes()[("main", -1)], 1)

    def test_a_deep_zoom_shows_three_callers(self):
        self.open("deep", "#zoom=9000")
        x, y, width, height = self.box(9000)
        graph = self.page.evaluate("document.getElementById('graph').getBoundingClientRect().toJSON()")
        self.assertAlmostEqual(y + 4 * 20, graph["bottom"], delta=1)
        self.assertEqual(self.page.evaluate(f"fathom.nodeAt(20, {y + 70 - graph['top']})"), 8997)

    def choose_span(self, begin, end):
        box = self.page.evaluate("document.getElementById('strip').getBoundingClientRect().toJSON()")
        at = [(box["left"] + box["width"] * share, box["top"] + 20) for share in (begin, end)]
        self.page.drag(*at)

    def test_a_span_of_time_can_be_chosen(self):
        self.open("mixed")
        self.choose_span(0.5, 0.99)
        self.assertIn("shares are of 3.00 ms", self.text("#list-title"))
        self.assertEqual(self.address(), "#span=8-16")
        self.assertEqual(self.box(self.node("swap"))[2], self.box(0)[2])
        self.press_button("#whole")
        self.assertIn("shares are of 12.0 ms", self.text("#list-title"))

    def test_a_span_can_be_typed(self):
        self.open("mixed")
        self.page.evaluate("(() => { const to = document.getElementById('to'); to.value = '0.006';"
                           " to.dispatchEvent(new Event('change')); })()")
        self.page.settle()
        self.assertIn("shares are of 2.00 ms", self.text("#list-title"))

    def test_without_times_there_is_no_strip(self):
        self.open("recursion", "#span=1-2")
        self.assertTrue(self.page.evaluate("document.getElementById('time').hidden"))
        self.assertIn("shares are of 7.00 ms", self.text("#list-title"))

    def test_paper_is_light_and_has_the_graph_and_the_table(self):
        self.open("mixed", "#theme=dark")
        self.assertGreater(len(self.page.pdf()), 5000)
        self.assertEqual(self.page.evaluate("document.documentElement.dataset.theme"), "dark")

    def test_what_can_be_used_has_a_name_for_a_screen_reader(self):
        self.open("mixed")
        self.assertEqual(self.page.unnamed(), [])

    def test_the_theme_follows_the_system_until_it_is_chosen(self):
        background = "getComputedStyle(document.body).backgroundColor"
        self.open("mixed")
        light = self.page.evaluate(background)
        light_box = self.color("main")
        self.page.prefer("dark")
        self.page.settle()
        dark = self.page.evaluate(background)
        self.assertEqual((light, dark), ("rgb(255, 255, 255)", "rgb(23, 24, 26)"))
        self.assertLess(sum(self.color("main")), sum(light_box))
        self.press_button("#theme")
        self.assertEqual(self.page.evaluate(background), light)
        self.assertEqual(self.address(), "#theme=light")

    def test_one_thread_can_be_shown_alone(self):
        self.open("mixed")
        self.page.evaluate("(() => { const s = document.getElementById('thread'); s.value = 't2';"
                           " s.dispatchEvent(new Event('change')); })()")
        self.page.settle()
        self.assertEqual(self.box(self.node("main"))[2], self.box(0)[2])
        self.assertEqual(self.box(self.node("[start-up]"))[2], 0)
        self.assertIn("shares are of 4.00 ms", self.text("#list-title"))
        self.assertEqual(self.address(), "#threads=t2")

    def test_one_process_can_be_shown_alone(self):
        self.open("long names", "#threads=p8")
        self.assertIn("shares are of 1 ns", self.text("#list-title"))
        self.assertEqual(self.page.evaluate(
            "[...document.querySelectorAll('#thread optgroup')].map(g => g.label)"),
            ["prog (7)", "prog (8)"])

    def test_an_address_that_is_passed_on_shows_the_same(self):
        self.open("mixed", "#zoom=2&search=swap&threads=t2&view=icicle&theme=dark&sort=name")
        self.assertEqual(self.text("#path [aria-current]"), "sort")
        self.assertEqual(self.text("#matched"), "75.0 % of the zoomed box matched")
        self.assertEqual(self.page.evaluate("document.documentElement.dataset.theme"), "dark")
        self.assertEqual(self.page.evaluate("document.getElementById('thread').value"), "t2")
        self.assertEqual(self.page.evaluate("document.getElementById('view').value"), "icicle")

    def test_an_address_that_makes_no_sense_shows_everything(self):
        self.open("mixed", "#zoom=999&threads=t77&view=sideways&theme=pink&sort=luck&%ff=%")
        self.assertEqual(self.text("#path"), "all")
        self.assertEqual(self.page.evaluate("document.getElementById('thread').value"), "")

    def test_everything_works_from_the_keyboard(self):
        self.open("mixed")
        self.page.evaluate("document.getElementById('canvas').focus()")
        self.page.press("ArrowUp")    # everything
        self.page.press("ArrowUp")    # main
        self.page.press("ArrowRight") # [start-up]
        self.assertIn("[start-up]", self.text("#status"))
        self.page.press("ArrowLeft")
        self.page.press("ArrowUp")    # sort
        self.assertIn("sort", self.text("#details"))
        self.page.press("Enter")
        self.assertEqual(self.text("#path [aria-current]"), "sort")
        self.page.press("Backspace")
        self.assertEqual(self.text("#path [aria-current]"), "main")
        self.page.press("0")
        self.assertEqual(self.text("#path"), "all")
        self.page.press("i")
        self.page.press("t")
        self.assertEqual(self.address(), "#view=icicle&theme=dark")
        self.page.press("/")
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "search")

    def choose_state(self, name):
        self.press_button(f"#states [data-state={name}]")

    def test_a_wait_has_the_colour_of_its_state(self):
        self.open("waits")
        self.assertEqual(self.text("#states").split("\n")[:4], ["sleep", "52.0 %", "io", "24.0 %"])
        names = ("run", "futex(GIL)", "read(/var/lib/of/a/program/database.db)", "clock_nanosleep")
        self.assertEqual(len({tuple(self.color(name)) for name in names}), 4)
        red, green, blue = self.color("read(/var/lib/of/a/program/database.db)")
        self.assertGreater(blue, red)
        red, green, blue = self.color("futex(GIL)")
        self.assertGreater(red, blue)
        self.page.move(*self.middle("run"))
        self.page.settle()
        self.assertIn("io 50.0 %   gil 25.0 %   running 16.7 %   runnable 8.3 %", self.text("#details"))

    def test_states_can_be_hidden(self):
        self.open("waits")
        self.choose_state("sleep")
        self.assertEqual(self.address(), "#hide=sleep")
        self.assertEqual(self.box(self.node("clock_nanosleep"))[2], 0)
        self.assertEqual(self.box(self.node("run"))[2], self.box(0)[2])
        self.assertIn("shares are of 12.0 ms", self.text("#list-title"))
        self.choose_state("io")
        self.assertIn("shares are of 6.00 ms", self.text("#list-title"))
        self.choose_state("sleep")
        self.assertEqual(self.address(), "#hide=io")

    def test_states_are_hidden_from_the_keyboard(self):
        self.open("waits")
        self.page.press("w")
        self.assertIn("shares are of 2.00 ms", self.text("#list-title"))
        self.page.press("w")
        self.assertIn("shares are of 25.0 ms", self.text("#list-title"))
        self.page.evaluate("document.querySelector('#states [data-state=sleep]').focus()")
        self.choose_state("sleep")
        self.assertEqual(self.page.evaluate("document.activeElement.dataset.state"), "sleep")
        self.page.press("w")
        self.assertEqual(self.address(), "")
        self.open("mixed")
        self.page.press("w")
        self.assertEqual(self.address(), "")
        self.assertTrue(self.page.evaluate("document.getElementById('states').hidden"))

    def test_idle_threads_can_be_hidden(self):
        self.open("waits")
        self.assertIn("1 idle thread", self.text("#states"))
        self.choose_state("idle")
        self.assertEqual(self.address(), "#hide=idle")
        self.assertIn("shares are of 12.0 ms", self.text("#list-title"))
        self.assertEqual(self.box(self.node("clock_nanosleep"))[2], 0)
        self.open("mixed", "#hide=idle")
        self.assertIn("shares are of 12.0 ms", self.text("#list-title"))

    def test_hiding_the_state_of_what_is_zoomed_shows_the_rest(self):
        self.open("waits")
        self.page.click(*self.middle("clock_nanosleep"))
        self.choose_state("sleep")
        self.assertEqual(self.text("#path"), "all")

    def test_a_wait_has_its_time_in_each_slot_that_it_lasts(self):
        self.open("waits", "#span=8-16")
        self.assertIn("shares are of 6.00 ms", self.text("#list-title"))

    def test_a_row_of_the_list_finds_its_function(self):
        self.open("mixed")
        self.press_button("#rows tr:nth-child(2) button")
        self.assertEqual(self.page.evaluate("document.getElementById('search').value"), '"sort"')

    def test_a_narrow_window_has_no_sideways_scrolling(self):
        self.page.resize(480, 700)
        try:
            self.open("mixed")
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 480)
        finally:
            self.page.resize(1200, 800)


class Enemies(Page):
    def assert_inert(self):
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.page.evaluate("document.scripts.length"), 2)

    def test_names_are_text_wherever_they_appear(self):
        self.open("hostile")
        self.assertEqual(self.text("#command"), SCRIPT)
        self.assertEqual(self.text("#rows tr:first-child button"), SCRIPT)
        self.page.move(*self.middle(SCRIPT))
        self.page.settle()
        self.assertIn(SCRIPT, self.text("#details"))
        self.page.click(*self.middle(SCRIPT))
        self.assertIn(SCRIPT, self.text("#path"))
        self.press_button("#legend button")
        self.press_button("#rows button")
        self.assert_inert()

    def test_an_address_is_text_too(self):
        self.open("hostile", "#search=" + quote(SCRIPT) + "&theme=" + quote(SCRIPT))
        self.assertEqual(self.page.evaluate("document.getElementById('search').value"), SCRIPT)
        self.assertEqual(self.text("#matched"), "100 % matched")
        self.assert_inert()

    def test_the_page_forbids_foreign_scripts_and_requests(self):
        self.open("one frame")
        self.page.evaluate(
            "(() => { const s = document.createElement('script'); s.textContent = 'window.isBroken = 1';"
            " document.body.append(s); })()")
        self.assertIsNone(self.page.evaluate("window.isBroken"))
        failed = self.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
        self.assertEqual(failed, "refused")
        self.page.settle()
        self.assertTrue(all("Content Security Policy" in c for c in self.page.complaints),
                        self.page.complaints)
        self.assertGreaterEqual(len(self.page.complaints), 2)
        self.page.complaints.clear()


if __name__ == "__main__":
    exported.main()
