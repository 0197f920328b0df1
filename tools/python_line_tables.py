#!/usr/bin/env python3
"""Makes tests/unit/target/python_line_tables.h: tables of lines that real interpreters made, with
what they say of each instruction (python_line_dump.py).

usage: python_line_tables.py INTERPRETER... > tests/unit/target/python_line_tables.h
"""

import json
import pathlib
import subprocess
import sys
import textwrap

TOOLS = pathlib.Path(__file__).parent
SOURCE = TOOLS.parent / "tests" / "unit" / "target" / "many_lines.py"
# One of each: calls and comprehensions, loops, a long line, a lambda, a gap of 300 lines.
NAMES = ("calls_in_many_lines", "loops", "long_line", "<lambda>", "far_apart")

HEAD = """/*
 * python_line_tables - tables of lines as interpreters made them of many_lines.py.
 *
 * Made by tools/python_line_tables.py: not to be edited.
 */
#pragma once
#include "abi/python_layout.h"

/* So many instructions belong to this line, 0: to none. */
struct line_run {
	u32 count, line;
};

struct line_table {
	const char *name;
	enum python_table kind;
	u32 first_line;
	u32 len;
	const char *bytes;
	struct line_run runs[LINE_RUNS_MAX];
};

/* clang-format off */
static const struct line_table line_tables[] = {
"""


def wrapped(pieces):
    return textwrap.wrap(" ".join(pieces), 72, break_long_words=False, break_on_hyphens=False)


def entry(version, code):
    data = [f"\\x{code['table'][i:i + 2]}" for i in range(0, len(code["table"]), 2)]
    yield (f'\t{{ "{code["name"]} of {version}", PYTHON_TABLE_{code["format"]},'
           f' {code["first_line"]}, {len(data)},')
    for start in range(0, max(len(data), 1), 18):
        yield f'\t\t"{"".join(data[start:start + 18])}"'
    yield "\t\t,"
    runs = wrapped(f"{{{count},{line}}}," for count, line in code["lines"])
    runs[0] = "{ " + runs[0]
    runs[-1] += " } },"
    yield from (f"\t\t{line}" for line in runs)


def main():
    body, longest = [], 0
    for interpreter in sys.argv[1:]:
        asked = [interpreter, "-c", "import sys; sys.stdout.write('%d.%d.%d' % sys.version_info[:3])"]
        version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        dump = subprocess.run([interpreter, TOOLS / "python_line_dump.py", SOURCE], check=True,
                              capture_output=True, text=True)
        for code in map(json.loads, dump.stdout.splitlines()):
            if code["name"] in NAMES:
                longest = max(longest, len(code["lines"]))
                body += entry(version, code)
    print(HEAD.replace("LINE_RUNS_MAX", str(longest + 1)), end="")
    print("\n".join(body))
    print("};\n/* clang-format on */")


if __name__ == "__main__":
    main()
