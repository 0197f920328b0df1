#!/usr/bin/env python3
"""The flame graph as an image: what is drawn where, and what no name can do."""
import unittest
import xml.etree.ElementTree as ElementTree

import exported

SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 1180  # of the root's box, and so below, in px
CHARACTER = 6.6
NARROWEST = 0.33


class Box:
    def __init__(self, group):
        rect, label = group.find(SVG + "rect"), group.find(SVG + "text")
        self.details = group.find(SVG + "title").text.split("\n")
        self.name = self.details[0]
        self.label = "" if label is None else label.text
        self.left, self.top, self.width = (float(rect.get(name)) for name in ("x", "y", "width"))
        self.color = rect.get("fill")

    def is_above(self, other):
        return (other.top - self.top == 18 and self.left - 0.11 <= other.left
                and other.left + other.width <= self.left + self.width + 0.11)


def draw(profile):
    root = ElementTree.fromstring(exported.export(profile, "svg"))
    return root, [Box(group) for group in root.iter(SVG + "g")]


class Drawing(unittest.TestCase):
    def test_widths_are_shares_and_callers_are_above(self):
        boxes = {box.name.split(",")[0]: box for box in draw("mixed")[1]}
        for name, share in (("all", 1), ("main", 10 / 12), ("sort", 7 / 12), ("swap", 4 / 12), ("[start-up]", 2 / 12)):
            # A pixel is the gap between neighbours.
            self.assertAlmostEqual(boxes[name].width, WIDTH * share - 1, delta=0.01, msg=name)
        for above, below in (("all", "main"), ("main", "sort"), ("sort", "swap"), ("main", "Job.run"), ("Job.run", "each")):
            self.assertTrue(boxes[above].is_above(boxes[below]), below)

    def test_a_box_says_what_is_known_of_it(self):
        boxes = {box.name.split(",")[0]: box for box in draw("mixed")[1]}
        self.assertEqual(boxes["swap"].details, [
            "swap, inlined into sort", "total 33.3 %  4.00 ms, self 33.3 %  4.00 ms, 4 samples",
            "src/swap.h:3 · /opt/prog · package prog"])
        self.assertEqual(boxes["swap"].label, "↳ swap")
        self.assertEqual(boxes["libz.so.1+0x2f10"].details[2], "/usr/lib/libz.so.1 · package libz.so.1")

    def test_the_head_says_what_was_recorded(self):
        root, _ = draw("mixed")
        said = [text.text for text in root.findall(SVG + "text")]
        self.assertEqual(said[0], "./prog -n 3")
        self.assertEqual(said[1], "10 samples · 12.0 ms of CPU time · 12.0 ms of wall time · 2 lost")
        self.assertIn("prog 58.3 %", said)
        self.assertEqual(root.find(SVG + "title").text, "./prog -n 3")

    def test_packages_are_coloured_apart(self):
        colors = {box.name: box.color for box in draw("mixed")[1]}
        names = ("all", "main", "libz.so.1+0x2f10", "vfs_read", "[start-up]")
        self.assertEqual(len({colors[name] for name in names}), len(names))

    def test_waits_end_with_their_states(self):
        boxes = draw("waits")[1]
        leaves = [box for box in boxes if box.name.startswith("[")]
        self.assertIn("[io]", [box.name for box in leaves])
        self.assertFalse([box.name for box in boxes for leaf in leaves if leaf.is_above(box)])
        self.assertEqual(len(leaves[0].details), 2)
        self.assertGreater(len({box.color for box in leaves}), 1)

    def test_names_are_cut_to_the_width_of_their_box(self):
        for profile in exported.PROFILES:
            for box in draw(profile)[1]:
                columns = sum(2 if "\u2e80" <= letter else 1 for letter in box.label)
                self.assertLessEqual(columns * CHARACTER, box.width, (profile, box.label))

    def test_long_names_lose_what_stands_in_brackets_first(self):
        labels = [box.label for box in draw("long names")[1]]
        self.assertIn("std::operator<< <char>(…)", labels)

    def test_what_is_too_narrow_to_be_seen_is_left_out(self):
        _, boxes = draw("large")
        tops = [box.top for box in boxes]
        self.assertGreater(len(boxes), 100)
        for top in set(tops):
            self.assertLessEqual(tops.count(top), WIDTH / NARROWEST)
        self.assertGreaterEqual(min(box.width for box in boxes), NARROWEST - 0.01)

    def test_no_name_can_become_markup(self):
        for profile in exported.PROFILES:
            with self.subTest(profile):
                root, _ = draw(profile)
                self.assertEqual({element.tag.removeprefix(SVG) for element in root.iter()} -
                                 {"svg", "g", "rect", "text", "title", "style"}, set())
                self.assertEqual({name for element in root.iter() for name in element.keys()} -
                                 {"width", "height", "viewBox", "role", "x", "y", "fill", "class"}, set())

    def test_an_empty_profile_is_a_root_alone(self):
        self.assertEqual([box.name for box in draw("empty")[1]], ["all"])

    def test_the_same_profile_gives_the_same_bytes(self):
        self.assertEqual(exported.export("mixed", "svg"), exported.export("mixed", "svg"))

    def test_a_trace_has_calls(self):
        _, boxes = draw("trace")
        self.assertTrue(any(box.details[1].endswith(" calls") for box in boxes[1:]))


if __name__ == "__main__":
    exported.main()
