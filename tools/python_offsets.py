#!/usr/bin/env python3
"""Makes src/target/python_offsets.h: where each CPython version keeps what a walk reads.

A row is made of debug information, by gdb: that of an interpreter (--interpreter FILE: the
program, or the libpython that it loads), or that of a small object file compiled from a
version's own internal headers (--headers FOLDER, and --free-threaded: the folder with
Python.h).  Rows of versions that are not asked for stay as they are.

To add a CPython version: one row in VERSIONS below, and this program run on it.  If the version
moved something that FIELDS or DEBUG_OFFSETS cannot find, they say so by name.

usage: python_offsets.py [--interpreter FILE]... [--headers FOLDER]... [--free-threaded FOLDER]...
                         [--check] [--output FILE]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from layouts import Header, ask, find, lines_of

# What no debug information has: how the version's frames hang together, how they say which
# instruction they are at, what its tables of lines look like, how a thread's state is found, and
# how an instance keeps its attributes (UNREAD: not known, nothing is read of them).
# The names are those of abi/python_layout.h.
VERSIONS = {
    (2, 7): ("OBJECTS", "BYTES", "LNOTAB_UNSIGNED", "BY_LIST", "TABLE"),
    (3, 6): ("OBJECTS", "BYTES", "LNOTAB", "BY_CALL", "DICT"),
    (3, 7): ("OBJECTS", "BYTES", "LNOTAB", "BY_CALL", "DICT"),
    (3, 8): ("OBJECTS", "BYTES", "LNOTAB", "BY_CALL", "DICT"),
    (3, 9): ("OBJECTS", "BYTES", "LNOTAB", "BY_CALL", "DICT"),
    (3, 10): ("OBJECTS", "UNITS", "PAIRS", "BY_CALL", "DICT"),
    (3, 11): ("ENTRY_FLAG", "POINTER", "LOCATIONS", "BY_CALL", "BEFORE"),
    (3, 12): ("CFRAME_SHIM", "POINTER", "LOCATIONS", "BY_CALL", "TAGGED"),
    (3, 13): ("SHIM", "POINTER", "LOCATIONS", "BY_CALL", "INLINE"),
    (3, 14): ("SHIM", "POINTER", "LOCATIONS", "BY_CALL", "INLINE"),
    (3, 15): ("SHIM", "POINTER", "LOCATIONS", "BY_TLS", "INLINE"),
}
FREE_THREADED_SINCE = (3, 13)
DEBUG_OFFSETS_SINCE = (3, 13)

# Where each field of struct python_offsets may be found, the newest way first: a member of a
# type, or "sizeof" a type.  A field that a version has in none of these ways is absent.
FIELDS = {
    "state_next": [("struct _ts", "next")],
    "state_interp": [("struct _ts", "interp")],
    "state_frame": [("struct _ts", "current_frame"), ("struct _ts", "frame")],
    "state_cframe": [("struct _ts", "cframe")],
    "state_base_frame": [("struct _ts", "base_frame")],
    "state_thread_id": [("struct _ts", "thread_id")],
    "cframe_frame": [("_PyCFrame", "current_frame")],
    "cframe_previous": [("_PyCFrame", "previous")],
    "interp_next": [("struct _is", "next")],
    "interp_threads": [("struct _is", "threads.head"), ("struct _is", "tstate_head")],
    "frame_previous": [("_PyInterpreterFrame", "previous"), ("struct _frame", "f_back")],
    "frame_code": [("_PyInterpreterFrame", "f_executable"), ("_PyInterpreterFrame", "f_code"),
                   ("struct _frame", "f_code")],
    "frame_position": [("_PyInterpreterFrame", "instr_ptr"),
                       ("_PyInterpreterFrame", "prev_instr"), ("struct _frame", "f_lasti")],
    "frame_is_entry": [("_PyInterpreterFrame", "is_entry")],
    "frame_owner": [("_PyInterpreterFrame", "owner")],
    "frame_locals": [("_PyInterpreterFrame", "localsplus"), ("struct _frame", "f_localsplus")],
    "frame_stack": [("_PyInterpreterFrame", "stackpointer")],
    "frame_bytecode_index": [("_PyInterpreterFrame", "tlbc_index")],
    "code_flags": [("PyCodeObject", "co_flags")],
    "code_first_line": [("PyCodeObject", "co_firstlineno")],
    "code_filename": [("PyCodeObject", "co_filename")],
    "code_name": [("PyCodeObject", "co_name")],
    "code_qualname": [("PyCodeObject", "co_qualname")],
    "code_table": [("PyCodeObject", "co_linetable"), ("PyCodeObject", "co_lnotab")],
    "code_instructions": [("PyCodeObject", "co_code_adaptive")],
    "code_copies": [("PyCodeObject", "co_tlbc")],
    "code_first_traceable": [("PyCodeObject", "_co_firsttraceable")],
    "code_stack_size": [("PyCodeObject", "co_stacksize")],
    "code_local_count": [("PyCodeObject", "co_nlocalsplus"), ("PyCodeObject", "co_nlocals")],
    "object_type": [("PyObject", "ob_type")],
    "type_name": [("PyTypeObject", "tp_name")],
    "type_keys": [("PyHeapTypeObject", "ht_cached_keys")],
    "text_length": [("PyASCIIObject", "length")],
    "text_state": [("PyASCIIObject", "state")],
    "text_ascii": [("sizeof", "PyASCIIObject")],
    "text_compact": [("sizeof", "PyCompactUnicodeObject")],
    "bytes_length": [("PyVarObject", "ob_size")],
    "bytes_data": [("PyBytesObject", "ob_sval"), ("PyStringObject", "ob_sval")],
    "builtin_method": [("PyCFunctionObject", "m_ml")],
    "builtin_self": [("PyCFunctionObject", "m_self")],
    "builtin_module": [("PyCFunctionObject", "m_module")],
    "descriptor_method": [("PyMethodDescrObject", "d_method")],
    "descriptor_type": [("PyMethodDescrObject", "d_common.d_type"),
                        ("PyMethodDescrObject", "d_type")],
}

# What a file's own type objects are compared with (target/python_checks.c), as FIELDS; a "+"
# adds two of them.
CHECKS = {
    "type_basic_size": [("PyTypeObject", "tp_basicsize")],
    "type_members": [("PyTypeObject", "tp_members")],
    "code_size": [("PyCodeObject", "co_code_adaptive"), ("sizeof", "PyCodeObject")],
    "text_size": [("sizeof", "PyUnicodeObject")],
    "frame_size": [[("struct _frame", "_f_frame_data"), ("_PyInterpreterFrame", "localsplus")],
                   ("sizeof", "struct _frame")],
    "generator_size": [[("PyGenObject", "gi_iframe"), ("_PyInterpreterFrame", "localsplus")],
                       ("sizeof", "PyGenObject")],
}

# Where struct _Py_DebugOffsets says them, from 3.13 on; its own layout changes with each minor
# version.
DEBUG_STRUCT = "struct _Py_DebugOffsets"
DEBUG_HEAD = {"size": [("sizeof", DEBUG_STRUCT)], "version": [(DEBUG_STRUCT, "version")],
              "free_threaded": [(DEBUG_STRUCT, "free_threaded")]}
DEBUG_OFFSETS = {
    "state_next": "thread_state.next",
    "state_interp": "thread_state.interp",
    "state_frame": "thread_state.current_frame",
    "state_base_frame": "thread_state.base_frame",
    "state_thread_id": "thread_state.thread_id",
    "interp_next": "interpreter_state.next",
    "interp_threads": "interpreter_state.threads_head",
    "frame_previous": "interpreter_frame.previous",
    "frame_code": "interpreter_frame.executable",
    "frame_position": "interpreter_frame.instr_ptr",
    "frame_owner": "interpreter_frame.owner",
    "frame_locals": "interpreter_frame.localsplus",
    "frame_stack": "interpreter_frame.stackpointer",
    "frame_bytecode_index": "interpreter_frame.tlbc_index",
    "code_first_line": "code_object.firstlineno",
    "code_filename": "code_object.filename",
    "code_name": "code_object.name",
    "code_qualname": "code_object.qualname",
    "code_table": "code_object.linetable",
    "code_instructions": "code_object.co_code_adaptive",
    "code_copies": "code_object.co_tlbc",
    "object_type": "pyobject.ob_type",
    "type_name": "type_object.tp_name",
    "text_length": "unicode_object.length",
    "text_state": "unicode_object.state",
    "text_ascii": "unicode_object.asciiobject_size",
    "bytes_length": "bytes_object.ob_size",
    "bytes_data": "bytes_object.ob_sval",
}

# Names every type that FIELDS asks for, so that the compiler describes them.
FROM_HEADERS = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_genobject.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#include <internal/pycore_debug_offsets.h>
#endif
struct _ts a_ts; struct _is an_is; _PyInterpreterFrame a_frame; struct _frame a_frame_object;
PyCodeObject a_code; PyASCIIObject an_ascii; PyCompactUnicodeObject a_compact;
PyUnicodeObject a_text; PyBytesObject a_bytes; PyCFunctionObject a_function;
PyMethodDescrObject a_descriptor; PyGenObject a_generator; PyTypeObject a_type;
PyVarObject a_var; PyHeapTypeObject a_class;
#if PY_VERSION_HEX >= 0x030d0000
struct _Py_DebugOffsets the_offsets;
#endif
"""


def version_of(file):
    """(major, minor), and the text of the version."""
    text = None
    with open(file, "rb") as content:
        data = content.read()
    for pattern in (rb"\0libpython(\d+)\.(\d+)[a-z]*\.so", rb"\0lib/python(\d+)\.(\d+)[a-z]*\0",
                    rb"\0(\d+)\.(\d+)\.\d+\0"):
        match = re.search(pattern, data)
        if match:
            major, minor = map(int, match.groups())
            text = re.search(rb"[^\d.](%d\.%d\.\d+[a-z0-9+]*)\0" % (major, minor), data)
            break
    else:
        sys.exit(f"{file}: which CPython it is cannot be seen")
    return (major, minor), text.group(1).decode() if text else f"{major}.{minor}"


def name_of(version, is_free_threaded):
    return f"{version[0]}.{version[1]}" + ("t" if is_free_threaded else "")


def row_of(file, version, is_free_threaded, source):
    if version not in VERSIONS:
        sys.exit(f"CPython {version[0]}.{version[1]} is not in VERSIONS of {__file__}: add a row")
    has_debug_offsets = version >= DEBUG_OFFSETS_SINCE
    places = {name: [(DEBUG_STRUCT, way)] for name, way in DEBUG_OFFSETS.items()}
    offsets, checks, head, debug = find(file, FIELDS, CHECKS, DEBUG_HEAD, places)
    if offsets["cframe_frame"] is None:
        # 3.10 has one, which leads to no frames.
        offsets["state_cframe"] = offsets["cframe_previous"] = None
    chain, position, table, means, attributes = VERSIONS[version]
    out = [f"\t{{ /* {name_of(version, is_free_threaded)}: {source} */"]
    out.append(f"\t\t.major = {version[0]}, .minor = {version[1]},"
               f" .is_free_threaded = {int(is_free_threaded)},")
    out.append(f"\t\t.chain = PYTHON_CHAIN_{chain}, .position = PYTHON_POSITION_{position},")
    out.append(f"\t\t.table = PYTHON_TABLE_{table}, .state_means = PYTHON_STATE_{means},")
    out.append(f"\t\t.attributes = PYTHON_ATTRIBUTES_{attributes},")
    parts = [("offsets", offsets), ("checks", checks)]
    if has_debug_offsets:
        parts += [("debug_head", head),
                  ("debug", {name: debug.get(name) for name in FIELDS})]
    for name, values in parts:
        out.append(f"\t\t.{name} = {{")
        out += [f"\t\t\t{line}" for line in lines_of(values)]
        out.append("\t\t},")
    return "\n".join(out + ["\t},"]) + "\n"


def row_of_interpreter(file):
    version, text = version_of(file)
    is_free_threaded = ask(file, ["(unsigned long)&((PyObject *)0)->ob_tid"])[0] is not None
    return name_of(version, is_free_threaded), row_of(file, version, is_free_threaded,
                                                      f"by the debug information of {text}")


def row_of_headers(folder, is_free_threaded):
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "types.c"
        source.write_text(FROM_HEADERS)
        built = source.with_suffix(".o")
        define = ["-DPy_GIL_DISABLED=1"] if is_free_threaded else []
        subprocess.run(["cc", "-g", "-w", "-c", *define, f"-I{folder}", f"-I{folder}/internal",
                        f"-I{folder}/..", source, "-o", built], check=True)
        patch = (pathlib.Path(folder) / "patchlevel.h").read_text()
        number = {name: int(value) for name, value in
                  re.findall(r"#define PY_(MAJOR|MINOR|MICRO)_VERSION\s+(\d+)", patch)}
        version = number["MAJOR"], number["MINOR"]
        text = ".".join(map(str, number.values()))
        return name_of(version, is_free_threaded), row_of(built, version, is_free_threaded,
                                                          f"by the headers of {text}")


HEADER = Header(pathlib.Path(__file__).parents[1] / "src" / "target" / "python_offsets.h", """/*
 * python_offsets - where each CPython version keeps what a walk reads.
 *
 * Made by tools/python_offsets.py: not to be edited.  docs/python.md says how to add a version.
 */
#pragma once
#include "target/python_row.h"

/* clang-format off */
#define NONE PYTHON_NO_FIELD

static const struct python_row python_rows[] = {
""", "};\n#undef NONE\n/* clang-format on */\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--interpreter", action="append", default=[])
    parser.add_argument("--headers", action="append", default=[])
    parser.add_argument("--free-threaded", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=HEADER.path)
    options = parser.parse_args()

    made = dict(row_of_interpreter(file) for file in options.interpreter)
    made.update(row_of_headers(folder, False) for folder in options.headers)
    made.update(row_of_headers(folder, True) for folder in options.free_threaded)
    header = Header(options.output, HEADER.introduction, HEADER.end)
    if options.check:
        differ = header.differing(made)
        for name in differ:
            print(f"the row of {name} in {options.output} is not what its interpreter says")
        return 1 if differ else 0
    header.update(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
