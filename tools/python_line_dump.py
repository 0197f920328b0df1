"""Run by any CPython from 2.7 on: prints the tables of lines of the code objects in Python files,
each with what this very interpreter says of each instruction (PyCode_Addr2Line()).

A line of JSON for each code object: its name, the format of its table (as enum python_table
names it), the first line, the table in hexadecimal, how many instructions it has (counted as
abi/python_layout.h says), and their lines: pairs of a number of instructions and their line, 0 for
none.  With --every N only the instructions 0, N, 2N ... are asked for.

usage: python_line_dump.py [--every N] FILE...
"""
import binascii
import ctypes
import json
import sys

ask = ctypes.pythonapi.PyCode_Addr2Line
ask.argtypes = [ctypes.py_object, ctypes.c_int]
ask.restype = ctypes.c_int

if sys.version_info < (3,):
    FORMAT = "LNOTAB_UNSIGNED"
elif sys.version_info < (3, 10):
    FORMAT = "LNOTAB"
elif sys.version_info < (3, 11):
    FORMAT = "PAIRS"
else:
    FORMAT = "LOCATIONS"
UNIT = 1 if FORMAT.startswith("LNOTAB") else 2


def runs(code, every):
    out = []
    for address in range(0, len(code.co_code), UNIT * every):
        line = max(ask(code, address), 0)
        if out and out[-1][1] == line:
            out[-1][0] += 1
        else:
            out.append([1, line])
    return out


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            for inner in codes(constant):
                yield inner


def main():
    paths, every = sys.argv[1:], 1
    if paths[0] == "--every":
        every = int(paths[1])
        paths = paths[2:]
    for path in paths:
        with open(path, "rb") as file:
            source = file.read()
        for code in codes(compile(source, path, "exec")):
            table = code.co_lnotab if UNIT == 1 else code.co_linetable
            print(json.dumps({"name": code.co_name, "format": FORMAT,
                              "first_line": code.co_firstlineno,
                              "table": binascii.hexlify(table).decode("ascii"),
                              "count": len(code.co_code) // UNIT, "lines": runs(code, every)}))


main()
