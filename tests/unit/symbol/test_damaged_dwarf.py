#!/usr/bin/env python3
"""Debugging information that leads in circles, without end, or to nowhere: written by hand.

usage: test_damaged_dwarf.py LOOK_UP [unittest arguments]

Every case must come back in time, and the symbol table's names must be there as before.
"""
import os
import sys
import tempfile
import unittest

from built import Names, run

# DWARF 4.  Entries are bytes: the abbreviation's number, then its attributes.
FRAME = """\
	.text
	.globl one
	.type one, @function
one:	.cfi_startproc
	.rept 64
	nop
	.endr
	ret
	.cfi_endproc
	.size one, . - one
	.section .debug_abbrev,"",@progbits
	.uleb128 1; .uleb128 0x11; .byte 1	# unit: low, high, language, lines
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7
	.uleb128 0x13; .uleb128 0xb; .uleb128 0; .uleb128 0
	.uleb128 2; .uleb128 0x2e; .byte 1	# function: low, high, origin, children
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7
	.uleb128 0x31; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 3; .uleb128 0x2e; .byte 0	# abstract function: origin
	.uleb128 0x31; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 4; .uleb128 0x1d; .byte 1	# inlined call: low, high, origin, children
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7
	.uleb128 0x31; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 5; .uleb128 0x0b; .byte 1	# block, children
	.uleb128 0; .uleb128 0
	.uleb128 6; .uleb128 0x13; .byte 1	# structure: sibling, children
	.uleb128 1; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 7; .uleb128 0x34; .byte 0	# variable: sibling
	.uleb128 1; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 8; .uleb128 0x2e; .byte 0	# function: name
	.uleb128 3; .uleb128 8; .uleb128 0; .uleb128 0
	.uleb128 9; .uleb128 0x2e; .byte 0	# abstract function: specification
	.uleb128 0x47; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 10; .uleb128 0x2e; .byte 0	# function: ranges
	.uleb128 0x55; .uleb128 0x17; .uleb128 0; .uleb128 0
	.uleb128 0
	.section .debug_info,"",@progbits
unit:	.4byte end - 1f
1:	.2byte 4
	.4byte .debug_abbrev
	.byte 8
	.uleb128 1
	.quad one, 65
	.byte {language}
{entries}
	.byte 0
end:
	.section .note.GNU-stack,"",@progbits
"""

C99 = 0x0C
CXX = 0x04


def reference(label):
    return f"	.4byte {label} - unit\n"


def function(origin):
    return "	.uleb128 2\n	.quad one, 65\n" + reference(origin)


def inlined(origin):
    return "	.uleb128 4\n	.quad one, 65\n" + reference(origin)


CASES = {
    "an origin leads to itself":
        "self: .uleb128 3\n" + reference("self") + function("self") + "	.byte 0\n",
    "two origins lead to each other":
        "a: .uleb128 3\n" + reference("b") + "b: .uleb128 9\n" + reference("a") +
        function("a") + "	.byte 0\n",
    "an inlined call's origin is the call":
        "name: .uleb128 8\n	.asciz \"dwarf_name\"\n" + function("name") +
        "call: " + inlined("call").lstrip() + "	.byte 0, 0\n",
    "a function's origin lies outside the unit":
        "	.uleb128 2\n	.quad one, 65\n	.4byte 0x7fffffff\n	.byte 0\n",
    "a sibling leads back":
        "back: .uleb128 5\n	.uleb128 7\n" + reference("back") + "	.byte 0\n",
    "a structure's sibling leads back":
        "back: .uleb128 6\n" + reference("back") + "	.byte 0\n",
    "a sibling lies outside the unit":
        "	.uleb128 6\n	.4byte 0x7fffffff\n	.byte 0\n",
    "an entry without sibling has a child that leads back":
        "back: .uleb128 5\n	.uleb128 5\n	.uleb128 7\n" + reference("back"),
    "lists without end": "	.rept 300\n	.uleb128 5\n	.endr\n",
    "blocks nested 100,000 deep": "	.rept 100000\n	.uleb128 5\n	.endr\n",
    "100,000 calls inlined into each other":
        "name: .uleb128 8\n	.asciz \"dwarf_name\"\n" + function("name") +
        "	.rept 100000\n" + inlined("name") + "	.endr\n",
    "an abbreviation that is not there": "	.uleb128 99\n",
    "ranges that are nowhere": "	.uleb128 10\n	.4byte 0x7fffffff\n",
    "zeros only": "	.skip 100000\n",
}


class DamagedDwarfTest(unittest.TestCase):
    def names(self, folder, entries, language):
        with open(os.path.join(folder, "a.s"), "w", encoding="ascii") as file:
            file.write(FRAME.format(entries=entries, language=language))
        run("gcc", "-shared", "-nostdlib", "a.s", "-o", "a.so", cwd=folder)
        path = os.path.join(folder, "a.so")
        start = int(run("nm", path).split()[run("nm", path).split().index("one") - 2], 16)
        return Names(path, [start, start + 64], "-d", folder)

    def test_a_case_without_damage_has_its_inlined_call(self):
        sound = "name: .uleb128 8\n	.asciz \"dwarf_name\"\n" + function("name") + \
            inlined("name") + "	.byte 0, 0\n"
        with tempfile.TemporaryDirectory() as folder:
            names = self.names(folder, sound, C99)
            self.assertEqual([[f.name for f in answer] for answer in names.answers],
                             [["dwarf_name", "one"]] * 2)

    def test_damage_costs_names_and_no_time(self):
        for name, entries in CASES.items():
            for language in (C99, CXX):
                with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                    names = self.names(folder, entries, language)
                    self.assertEqual(len(names.answers), 2)
                    for answer in names.answers:
                        self.assertEqual(answer[-1].name, "one")
                        self.assertLessEqual(len(answer), 129)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=2)
