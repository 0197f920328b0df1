#!/usr/bin/env python3
"""The lints see what they are there to see."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cycles  # noqa: E402
import headers  # noqa: E402
import layers  # noqa: E402
import paths  # noqa: E402
import sizes  # noqa: E402
import words  # noqa: E402


class Tree(unittest.TestCase):
    """A small project on disk."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("src/base/error.h", "#pragma once\nstruct error;\n")
        self.write("src/profile/profile.h", "#pragma once\nstruct profile;\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Layers(Tree):
    def lint(self, path, text):
        self.write(path, text)
        return layers.problems(self.root)

    def assert_clean(self, path, text):
        self.assertEqual(self.lint(path, text), [])

    def assert_wrong(self, path, text, sentence):
        found = self.lint(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(sentence, found[0])

    def test_a_room_may_include_what_the_table_says(self):
        self.assert_clean("src/report/a.c",
                          '#include <stdio.h>\n#include "profile/profile.h"\n#include "base/error.h"\n')

    def test_a_wrong_include_is_caught_with_its_line(self):
        self.assert_wrong("src/base/a.c", '\n#include "profile/profile.h"\n',
                          "src/base/a.c:2: base may not know profile")

    def test_a_way_round_through_the_file_system_is_caught(self):
        self.assert_wrong("src/base/a.c", '#include "../profile/profile.h"\n',
                          "base may not know profile")

    def test_a_figure_of_a_ring_that_is_read_in_passing_is_caught(self):
        self.assert_wrong("src/collect/session/a.c", "int f(struct image *image)\n{ return image->ring->flags; }\n",
                          "src/collect/session/a.c:2: only ring_view.c may read a ring")
        self.write("src/collect/session/a.c", "")
        self.assert_clean("src/collect/processes/ring_view.c", "int f(struct image *image) { return image->ring->flags; }\n")

    def test_an_include_in_angle_brackets_is_caught(self):
        self.assert_wrong("src/base/a.c", "#include <profile/profile.h>\n", "is ours")

    def test_an_include_in_a_comment_is_none(self):
        self.assert_clean("src/base/a.c", '/*\n#include "profile/profile.h"\n*/\n')

    def test_a_floor_of_the_agent_uses_those_below_it(self):
        self.write("src/agent/core/core.h", "#pragma once\n")
        self.write("src/agent/sample/sample.h", "#pragma once\n")
        self.assert_clean("src/agent/trace/python/a.c", '#include "agent/core/core.h"\n')
        self.assert_wrong("src/agent/trace/python/a.c", '#include "agent/sample/sample.h"\n',
                          "agent/trace may not know agent/sample")

    def test_an_exception_is_allowed_as_long_as_it_is_needed(self):
        self.write("src/agent/sample/sample.h", "#pragma once\n")
        self.write("src/agent/core/a.c", '#include "agent/sample/sample.h"\n')
        excepted = {("agent/core/a.c", "agent/sample/sample.h")}
        self.assertEqual(layers.problems(self.root, excepted), [])
        self.write("src/agent/core/a.c", "\n")
        found = layers.problems(self.root, excepted)
        self.assertEqual(len(found), 1)
        self.assertIn("take it off the list", found[0])

    def test_a_walker_includes_nothing_of_libc(self):
        self.assert_clean("src/walk/a.h", "#include <stdint.h>\n")
        self.assert_wrong("src/walk/a.h", "#include <string.h>\n", "without a libc")

    def test_a_room_the_table_does_not_know_is_caught(self):
        self.assert_wrong("src/misc/a.c", "\n", "in no room")

    def test_only_cli_speaks(self):
        for call in ('printf("x");', 'fprintf(stderr, "x");', "exit(1);", "perror(path);",
                     'fputs("x", stdout);', "abort();", "assert(x);"):
            with self.subTest(call):
                self.assert_wrong("src/report/a.c", f"void f(void)\n{{\n\t{call}\n}}\n",
                                  "src/report/a.c:3: only cli/ may call")
        (self.root / "src/report/a.c").unlink()
        self.assert_clean("src/cli/a.c", 'void f(void)\n{\n\tprintf("x");\n}\n')

    def test_writing_to_a_file_is_not_speaking(self):
        self.assert_clean("src/report/a.c",
                          'void f(FILE *out)\n{\n\tfprintf(out, "exit(1)");\n\tp->exit(1);\n'
                          "\tmy_exit(1);\n\tsnprintf(b, n, x); /* printf(x) */\n}\n")

    def test_only_a_child_before_exec_ends_at_once(self):
        self.assert_clean("src/collect/session/a.c", "_exit(127);\n")
        self.assert_wrong("src/record/a.c", "_exit(127);\n", "record may not call _exit()")


class Headers(Tree):
    def test_a_header_that_needs_another_is_caught(self):
        self.assertEqual(headers.problems(self.root, ["cc"]), [])
        self.write("src/base/size.h", "#pragma once\nsize_t size(void);\n")
        found = headers.problems(self.root, ["cc"])
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/size.h does not compile alone", found[0])

    def test_a_file_that_does_not_say_what_it_is_is_caught(self):
        self.write("src/base/error.h", "/* error - a sentence and a number. */\n#pragma once\n")
        self.write("src/base/error.c", '#include "error.h"\n')
        self.write("src/base/error_more.c", '#include "base/error.h"\n')
        self.write("src/profile/profile.h", "/* profile - what was measured. */\n")
        self.write("src/profile/part.c", "/* A part of it. */\n")
        self.assertEqual(headers.nameless(self.root), ["src/base/error_more.c:1: what is this file?"])

    def test_a_header_that_forgets_to_name_a_struct_is_caught(self):
        self.write("src/base/forgets.h", "#pragma once\nvoid f(struct unknown *unknown);\n")
        found = headers.problems(self.root, ["cc"])
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/forgets.h does not compile alone", found[0])

    def test_a_function_that_the_includer_defines_is_no_problem(self):
        self.write("src/walk/mem.h", "#pragma once\nstatic inline int mem_read(int a);\n"
                                     "static inline int twice(int a)\n{\n\treturn mem_read(a);\n}\n")
        self.assertEqual(headers.problems(self.root, ["cc"]), [])


class Sizes(Tree):
    def test_a_long_source_is_a_failure_but_not_a_table_that_a_tool_made(self):
        self.assertEqual(sizes.problems(self.root), ([], []))
        self.write("src/base/long.c", "\n" * 400)
        self.assertEqual(sizes.problems(self.root), ([], []))
        self.write("src/base/long.c", "\n" * 401)
        self.assertEqual([len(found) for found in sizes.problems(self.root)], [0, 1])
        self.write("src/base/long.c", "/* Made by tools/offsets.py: not to be edited. */\n" + "\n" * 401)
        self.assertEqual(sizes.problems(self.root), ([], []))

    def test_a_long_test_is_a_question_and_a_very_long_one_a_failure(self):
        self.write("tests/long.py", "\n" * 501)
        self.assertEqual([len(found) for found in sizes.problems(self.root)], [1, 0])
        self.write("tests/long.py", "\n" * 1001)
        self.assertEqual([len(found) for found in sizes.problems(self.root)], [0, 1])

    def test_a_line_is_measured_in_columns(self):
        self.write("src/base/a.c", "\t" * 11 + "x" * 9 + "\n")
        self.assertEqual(sizes.problems(self.root),
                         (["src/base/a.c:1: a line of 97 columns"], []))
        self.write("src/base/a.c", "\t" * 11 + "ü" * 8 + "\n")
        self.assertEqual(sizes.problems(self.root), ([], []))

    def test_prose_is_wrapped_but_tables_and_what_is_quoted_are_not(self):
        long = "word " * 21 + "\n"
        self.write("docs/a.md", f"    {long}\n|{long}\n```\n{long}```\n")
        self.assertEqual(sizes.problems(self.root), ([], []))
        self.write("docs/a.md", f"short\n{long}")
        self.assertEqual(sizes.problems(self.root),
                         ([], ["docs/a.md:2: a line of 105 columns: wrap it at 100"]))

    def test_a_long_function_is_named(self):
        body = "\tx();\n" * 99
        self.write("src/base/a.c", f"int y;\n\nstatic int named(int a,\n\t\tint b)\n{{\n{body}}}\n")
        questions, failures = sizes.problems(self.root)
        self.assertEqual(questions, [])
        self.assertEqual(failures, ["src/base/a.c:5: named() has 101 lines: can it be split?"])


class Words(Tree):
    def test_code_that_is_spoken_of_as_a_person_is_found_with_the_word_to_use(self):
        self.write("src/base/a.c", "/*\n * Who calls this?\n */\n")
        self.write("docs/man/a.1", "what gdb is told\n")
        self.assertEqual(words.problems(self.root), [
            'src/base/a.c:2: "Who": which, what, no code',
            'docs/man/a.1:1: "told": reports, is called back, shows'])

    def test_a_name_of_several_words_is_looked_through(self):
        self.write("src/base/a.c", "bool is_told;\nint whole, untold;\n")
        self.assertEqual(words.problems(self.root), [
            'src/base/a.c:1: "told": reports, is called back, shows'])

    def test_tests_are_looked_at_too_and_a_folder_has_words_of_its_own(self):
        self.write("tests/live/trace/test_a.py", "stubs = nobody\n")
        self.write("src/symbol/plt.c", "int stub;\n")
        self.assertEqual(words.problems(self.root), [
            'tests/live/trace/test_a.py:1: "stubs": dispatch hook',
            'tests/live/trace/test_a.py:1: "nobody": which, what, no code'])

    def test_people_are_people(self):
        self.write("README.md", "For those who read, a user who asks; clock(int who)\n")
        self.assertEqual(words.problems(self.root), [])


class Paths(Tree):
    def lint(self, text):
        self.write("docs/a.md", text)
        return paths.problems(self.root)

    def test_names_of_files_that_are_there_are_right_whole_or_by_their_last_part(self):
        self.assertEqual(self.lint("`src/base/` `error.h` `base/error.h` `src/base/{error}.h` `json.h.in` `--by`"), [])

    def test_a_file_that_is_not_there_is_found_with_its_line(self):
        self.assertEqual(self.lint("\n`error.c` `src/basement/`\n"), [
            "docs/a.md:2: error.c is not there", "docs/a.md:2: src/basement/ is not there"])

    def test_a_link_is_from_where_the_document_is(self):
        self.write("README.md", "[a](docs/a.md) [b](https://example.org/b.md)")
        self.assertEqual(self.lint("[read](../README.md#top) [me](README.md)"), [
            "docs/a.md:1: a link to README.md, which is not there"])


class Cycles(Tree):
    A_AND_B = (cycles.Known("two that need each other", {"collect/a", "collect/b"}),)

    def setUp(self):
        super().setUp()
        for name, other in (("a", "b"), ("b", "c"), ("c", "d")):
            self.write(f"src/collect/{name}.h", "#pragma once\n")
            self.write(f"src/collect/{name}.c", f'#include "collect/{name}.h"\n#include "collect/{other}.h"\n')
        self.write("src/collect/d.h", "#pragma once\n")

    def lint(self, known=(), counted=()):
        return cycles.problems(self.root, known, counted)

    def close(self, first, second):
        self.write(f"src/collect/{second}.c", f'#include "collect/{first}.h"\n')

    def test_a_chain_is_no_cycle(self):
        self.assertEqual(self.lint(), [])

    def test_a_cycle_of_modules_is_found_from_each_of_them(self):
        self.close("a", "c")
        self.assertEqual(self.lint(), [
            "src/collect/a.c:2: a cycle of #include: collect/a -> collect/b -> collect/c -> collect/a",
            "src/collect/b.c:2: a cycle of #include: collect/b -> collect/c -> collect/a -> collect/b",
            "src/collect/c.c:1: a cycle of #include: collect/c -> collect/a -> collect/b -> collect/c"])

    def test_a_cycle_of_headers_is_found_once(self):
        self.write("src/collect/e.h", '#pragma once\n#include "collect/f.h"\n')
        self.write("src/collect/f.h", '#pragma once\n#include "collect/e.h"\n')
        listed = (cycles.Known("e and f", {"collect/e", "collect/f"}),)
        self.assertEqual(self.lint(listed), [
            "src/collect/e.h:2: a cycle of #include: collect/e.h -> collect/f.h -> collect/e.h"])

    def test_an_include_in_a_comment_closes_none(self):
        self.write("src/collect/c.c", '/* #include "collect/a.h" */\n')
        self.assertEqual(self.lint(), [])

    def test_what_is_listed_is_left_alone_and_what_joins_it_is_not(self):
        self.close("a", "b")
        self.assertEqual(self.lint(self.A_AND_B), [])
        self.write("src/collect/b.c", '#include "collect/a.h"\n#include "collect/c.h"\n')
        self.close("a", "c")
        self.assertEqual(self.lint(self.A_AND_B), [
            "src/collect/c.c:1: a cycle of #include: collect/c -> collect/a -> collect/b -> collect/c"])

    def test_a_row_that_is_out_of_date_has_to_go(self):
        self.assertEqual(self.lint(self.A_AND_B), [
            f"tests/lint/cycles.py: {name} is in no cycle any more: take it off the list"
            for name in ("collect/a", "collect/b")])

    def test_a_folder_that_is_counted_may_have_fewer_but_not_more(self):
        self.close("a", "b")
        for most, problems in ((3, 0), (2, 0), (1, 1)):
            with self.subTest(most=most):
                self.assertEqual(len(self.lint((), (cycles.Counted("a folder", "collect", most),))), problems)

    def test_two_modules_of_one_name_in_different_folders_are_two(self):
        self.write("src/record/a.h", "#pragma once\n")
        self.write("src/collect/d.c", '#include "record/a.h"\n')
        self.assertEqual(self.lint(), [])


if __name__ == "__main__":
    unittest.main()
