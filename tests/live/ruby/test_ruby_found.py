"""Which files are taken for CRuby, and what is said of those that look like one."""

import os
import re
import shutil
import struct
import subprocess
import unittest

from live_ruby import EVERY_RUBY, LANGUAGE, RubyTest

# A block that each calls for map: the frame of a block in C stands between.
NESTED = "class Nest\n def lay; 300.times { (1..300).map { |m| m.to_s } }; end\nend\nNest.new.lay"
SPIN = "class Spun\n def spin = 300.times { |n| 1000.times { |m| n * m } }\nend\nSpun.new.spin"

# A fiber whose stack has more pages of the heap to it than are copied in a walk.
FIBER = """
100.times do |n|
  body = n == 99 ? "x = 0; x += 1 while x < 20_000_000; x" : "Deep#{n + 1}.new.down#{n + 1}"
  eval "class Deep#{n}; def down#{n}; #{body}; end; end"
end
Fiber.new { Deep0.new.down0 }.resume
"""


def library_of(ruby):
    """The libruby that it loads, or None."""
    done = subprocess.run(["ldd", ruby.path], capture_output=True, text=True, timeout=300)
    found = re.search(r"libruby\S* => (\S+)", done.stdout)
    return os.path.realpath(found[1]) if found else None


class FoundRuby(RubyTest):
    # Of a program that is short, a sample may miss the one function that is looked for.
    compares_times = True

    def rows_of_interpreters(self, recording):
        return recording.rows("SELECT i.language, i.version, i.why_not, m.path FROM interpreters i"
                              " JOIN modules m ON m.id = i.module ORDER BY i.process, i.id")

    def debian_ruby(self):
        ruby = next(ruby for ruby in EVERY_RUBY if ruby.name.startswith("debian"))
        if not ruby.is_there:
            self.skipTest(ruby.why_not)
        if library_of(ruby) is None:
            self.skipTest(f"{ruby.path} has no libruby")
        return ruby

    def change_library(self, change):
        """Debian's ruby with a libruby of its own: (command line without arguments, environment, its path)."""
        ruby = self.debian_ruby()
        library = library_of(ruby)
        with open(library, "rb") as file:
            data = change(file.read(), ruby)
        path = self.path("libruby-%d.%d.so.%d.%d" % (ruby.version * 2))
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        return ruby, {**os.environ, "LD_LIBRARY_PATH": self.folder}, path

    def assert_refused(self, change, version, sentence):
        ruby, environment, path = self.change_library(change)
        recording = self.record(ruby.command("--disable=gems", "-e", SPIN), env=environment)
        rows = self.rows_of_interpreters(recording)
        self.assertEqual([row[0] for row in rows], [LANGUAGE], rows)
        self.assertRegex(rows[0][1], version)
        self.assertRegex(rows[0][2], sentence)
        self.assertEqual(rows[0][3], path)
        notes = [row[0] for row in recording.rows("SELECT text FROM notes") if "Ruby" in row[0]]
        self.assertEqual(notes, [f"{path}: no Ruby functions in its stacks: {rows[0][2]}"])
        # Rows of time that has no sample are codes of the language 4 (decision 0037).
        self.assertEqual(recording.rows("SELECT name FROM codes WHERE language < 4"), [])
        self.assertGreater(recording.total_ns(), 0)

    def test_an_unknown_version_has_native_stacks_and_a_sentence(self):
        def change(data, ruby):
            # ruby_version, and behind it ruby_api_version.
            major, minor = ruby.version
            found = re.search(rb"\x00%d\.%d\.(\d+\x00{1,8})%s" % (
                major, minor, re.escape(struct.pack("<iii", major, minor, 0))), data)
            self.assertIsNotNone(found)
            unknown = b"\x00%d.9.%s%s" % (major, found[1], struct.pack("<iii", major, 9, 0))
            data = data[:found.start()] + unknown + data[found.end():]
            # What it has compiled beforehand says the version, too.
            return data.replace(b"YARB" + struct.pack("<ii", major, minor), b"YARB" + struct.pack("<ii", major, 9))

        self.assert_refused(change, r"^\d+\.9\.\d+$", r"^CRuby \d+\.9\.\d+ is not known yet$")

    def test_so_has_a_build_whose_instructions_are_others(self):
        def change(data, _):
            for names in ((b"opt_plus", b"opt_minus"), (b"trace_opt_plus", b"trace_opt_minus")):
                self.assertEqual(data.count(b"\0%s\0%s\0" % names), 1)
                data = data.replace(b"\0%s\0%s\0" % names, b"\0%s\0%s\0" % names[::-1])
            return data

        self.assert_refused(change, r"^\d+\.\d+\.\d+$",
                            r"^its instruction opt_minus is not where CRuby \d+\.\d+ has it$")

    def test_a_walk_agrees_with_the_interpreters_own_in_a_block_that_c_code_calls(self):
        def check(ruby):
            recording = self.record_ruby(ruby, "--disable=gems", "-e", NESTED)
            rows = self.rows_of_interpreters(recording)
            self.assertEqual([(row[0], row[2]) for row in rows], [(LANGUAGE, None)], rows)
            self.assertGreater(recording.time_of("block (2 levels) in Nest#lay", "total_ns"), 0)
        self.on_each_ruby(check, oldest=(3, 0))

    def test_and_where_an_extension_begins(self):
        # In one of two or three of these processes the first sample comes while the library is loaded.
        program = "require 'fiddle'; 20_000.times { |n| n.to_s }"
        starter = "8.times { system(*ARGV, exception: true) }"

        def check(ruby):
            command = ruby.command("--disable=gems", "-e", program)
            recording = self.record_ruby(ruby, "--disable=gems", "-e", starter, *command, rate=2000)
            rows = self.rows_of_interpreters(recording)
            self.assertGreater(len(rows), 1)
            self.assertEqual({row[2] for row in rows}, {None})
        self.on_each_ruby(check)

    def test_and_deep_in_a_fiber(self):
        def check(ruby):
            # So seldom that the fiber is what is asked first.
            recording = self.record_ruby(ruby, "--disable=gems", "-e", FIBER, rate=20)
            self.assertEqual([row[2] for row in self.rows_of_interpreters(recording)], [None])
        self.on_each_ruby(check)

    def test_a_program_with_the_interpreter_in_it_is_known_without_its_names(self):
        static = [ruby for ruby in EVERY_RUBY if ruby.name.endswith("-static")]
        if not any(ruby.is_there for ruby in static):
            self.skipTest("; ".join(ruby.why_not for ruby in static))
        self.need("strip")
        for ruby in static:
            if not ruby.is_there:
                continue
            with self.subTest(ruby.name):
                path = self.path("ruby")
                shutil.copy(ruby.path, path)
                subprocess.run(["strip", path], check=True, timeout=120)
                recording = self.record([path, "--disable=gems", "-e", SPIN])
                rows = self.rows_of_interpreters(recording)
                self.assertEqual([(row[0], row[2], row[3]) for row in rows], [(LANGUAGE, None, path)], rows)
                self.assertGreater(recording.time_of("Spun#spin", "total_ns"), 0.3 * recording.total_ns())


if __name__ == "__main__":
    unittest.main(verbosity=2)
