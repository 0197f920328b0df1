#!/usr/bin/env python3
"""Makes src/target/ruby_offsets.h: where each CRuby version keeps what a walk reads.

A row is made of the version's source, as its authors release it (--source FOLDER): configure is
run, the types are compiled with debug information, and gdb is asked where their fields are.  What
the instructions do is read out of the files that the release has them in.  Rows of versions that
are not asked for stay as they are.

To add a CRuby version: add it to RELEASES, and run this program on its source.  If the version moved
something that FIELDS cannot find, the program says so by name.

usage: ruby_offsets.py [--source FOLDER[=CONFIGURED]]... [--check] [--output FILE]
       ruby_offsets.py --structures FOLDER [--version X.Y]... [--check] [--output FILE]

CONFIGURED is a folder to run configure in, or in which it has been run.  --structures compares the
rows with every release's structures, as rbspy publishes them (src of the crate rbspy-ruby-structs),
or makes the rows of a version of them.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from bindgen_structs import Structures
from layouts import Header, find, joined, lines_of

FRAME = "rb_control_frame_t"
EC = "rb_execution_context_t"
THREAD = "rb_thread_t"
BODY = "struct rb_iseq_constant_body"
METHOD = "rb_callable_method_entry_t"
DEFINITION = "struct rb_method_definition_struct"
EXT = "struct rb_classext_struct"

# Where each field of struct ruby_offsets may be found, the newest way first; see layouts.py.  A field that
# a version has in none of these ways must be in ONLY_IN.
FIELDS = {
    "frame_size": [("sizeof", FRAME)],
    "frame_pc": [(FRAME, "pc")],
    "frame_sp": [(FRAME, "sp")],
    "frame_iseq": [(FRAME, "_iseq"), (FRAME, "iseq")],
    "frame_self": [(FRAME, "self")],
    "frame_ep": [(FRAME, "ep")],
    "frame_jit_return": [(FRAME, "jit_return")],
    "ec_stack": [(EC, "vm_stack")],
    "ec_stack_size": [(EC, "vm_stack_size")],
    "ec_frame": [(EC, "cfp")],
    "ec_thread": [(EC, "thread_ptr")],
    "ec_machine_start": [(EC, "machine.stack_start")],
    "ec_machine_max": [(EC, "machine.stack_maxsize")],
    "thread_vm": [(THREAD, "vm")],
    "thread_self": [(THREAD, "self")],
    "thread_ec": [(THREAD, "ec")],
    # From 3.2 on a thread has a native one, which has it.
    "thread_pthread": [(THREAD, "thread_id")],
    "thread_link": [(THREAD, "vmlt_node")],
    "thread_name": [(THREAD, "name")],
    "vm_threads": [("rb_vm_t", "living_threads")],
    "vm_objspace": [("rb_vm_t", "gc.objspace"), ("rb_vm_t", "objspace")],
    "vm_shapes": [("rb_vm_t", "shape_list")],
    "objspace_flags": [("struct rb_objspace", "flags")],
    "objspace_count": [("struct rb_objspace", "profile.count")],
    "iseq_body": [("struct rb_iseq_struct", "body")],
    "body_type": [(BODY, "type")],
    "body_size": [(BODY, "iseq_size")],
    "body_encoded": [(BODY, "iseq_encoded")],
    "body_path": [(BODY, "location.pathobj")],
    "body_base_label": [(BODY, "location.base_label")],
    "body_label": [(BODY, "location.label")],
    "body_first_line": [(BODY, "location.first_lineno")],
    "body_lines": [(BODY, "insns_info.body")],
    "body_line_positions": [(BODY, "insns_info.positions")],
    "body_line_count": [(BODY, "insns_info.size")],
    "body_line_index": [(BODY, "insns_info.succ_index_table")],
    "body_parent": [(BODY, "parent_iseq")],
    "body_local": [(BODY, "local_iseq")],
    "line_size": [("sizeof", "struct iseq_insn_info_entry")],
    "method_definition": [(METHOD, "def"), ("struct rb_method_entry_struct", "def")],
    "method_called_id": [(METHOD, "called_id"), ("struct rb_method_entry_struct", "called_id")],
    "method_owner": [(METHOD, "owner"), ("struct rb_method_entry_struct", "owner")],
    "definition_iseq": [(DEFINITION, "body.iseq.iseqptr")],
    "definition_function": [(DEFINITION, "body.cfunc.func")],
    "definition_id": [(DEFINITION, "original_id")],
    # In 2.7 it is a part of the call data, and no object.
    "call_data_cache": [("struct rb_call_data", "cc")],
    "cache_class": [("struct rb_callcache", "klass")],
    "cache_method": [("struct rb_callcache", "cme_"), ("struct rb_call_data", "cc.me")],
    # In 3.2 it stands behind the object.
    "class_ext": [("struct RClass_and_rb_classext_t", "classext"), ("struct RClass", "ptr"),
                  ("sizeof", "struct RClass")],
    "ext_classpath": [(EXT, "classpath")],
    "ext_attached": [(EXT, "as.singleton_class.attached_object")],
    "ext_table": [(EXT, "iv_tbl")],
    "ext_variables": [(EXT, "iv_ptr")],
    # Its superclass.
    "refinement_class": [("struct RClass", "super"),
                         [("struct RClass_and_rb_classext_t", "classext"), (EXT, "super")]],
    "text_length": [("struct RString", "len"), ("struct RString", "as.heap.len")],
    "text_pointer": [("struct RString", "as.heap.ptr")],
    "text_embedded": [("struct RString", "as.embed.ary"), ("struct RString", "as.ary")],
    "array_pointer": [("struct RArray", "as.heap.ptr")],
    "array_embedded": [("struct RArray", "as.ary")],
    "symbols_ids": [("rb_symbols_t", "ids")],
    "typed_data": [("struct RTypedData", "data")],
}
# The first and the last version that has a field, where not all have it (None: no limit).  Others do without,
# even if there is such a member.
ONLY_IN = {
    "frame_jit_return": ((3, 1), None),
    "thread_pthread": (None, (3, 1)),
    "thread_link": (None, (2, 7)),
    "vm_threads": (None, (2, 7)),
    "vm_shapes": ((3, 2), (3, 2)),
    "objspace_count": (None, (3, 4)),
    "call_data_cache": ((3, 0), None),
    "cache_class": ((3, 0), None),
    "ext_classpath": ((3, 3), None),
    "ext_attached": ((3, 3), None),
    "ext_table": (None, (3, 1)),
    "ext_variables": ((3, 2), (3, 2)),
}
CONTEXT_BY_TLS_SINCE = (3, 0)

# Which releases there is a row for: the first patch level and the last, and what of FIELDS is elsewhere than in the
# release that the rows are made of.  --structures says where this is wrong.
RELEASES = {
    (2, 7): [(0, 8, {})],
    (3, 0): [(0, 7, {})],
    (3, 1): [(0, 4, {}), (5, 7, {"vm_objspace": 1112})],
    (3, 2): [(0, 2, {"vm_objspace": 1128}), (3, 3, {}), (4, 11, {"vm_objspace": 1144})],
    (3, 3): [(0, 13, {})],
    (3, 4): [(0, 12, {})],
    (4, 0): [(0, 5, {}), (6, 9, {})],
}
# Of the versions that are made of structures alone, what these leave open.  4.0: the flags are where
# OpenTelemetry's profiler has them (interpreter/ruby/ruby.go), the rest as ruby/ruby's symbol.c, vm_callinfo.h
# and rtypeddata.h had it in the months before.
OPEN = {
    (4, 0): {"objspace_flags": 28, "call_data_cache": 8, "cache_class": 8, "cache_method": 16, "symbols_ids": 16,
             "typed_data": 32},
}
# A jmp_buf comes before it, of which C libraries and compilers have different ones.
UNCOMPARED = {((2, 7), "thread_name"), ((3, 0), "thread_name")}

# Facts of another kind, as FIELDS.
FACTS = {
    "ext_pointer": [("struct RClass", "ptr")],
    "singleton": [("value", "the_singleton_flag")],
    "first_line_size": [("sizeof", f"(({BODY} *)0)->location.first_lineno")],
    "embedded_length": [("struct RString", "len"), ("struct RString", "as.embed.len")],
    "nil": [("value", "the_nil")],
    "last_operator_id": [("value", "the_last_operator_id")],
    "instructions": [("value", "VM_INSTRUCTION_SIZE")],
}

# Instructions that do what an ordinary call would have made a frame for, or that a walk has to know otherwise
# (RUBY_OPERATOR_MAP).
OPERATORS = {
    "opt_plus": "PLUS", "opt_minus": "MINUS", "opt_mult": "MULT", "opt_div": "DIV", "opt_mod": "MOD",
    "opt_eq": "EQ", "opt_neq": "NEQ", "opt_lt": "LT", "opt_le": "LE", "opt_gt": "GT", "opt_ge": "GE",
    "opt_ltlt": "LTLT", "opt_and": "AND", "opt_or": "OR", "opt_aref": "AREF", "opt_aset": "ASET",
    "opt_aref_with": "AREF_WITH", "opt_aset_with": "ASET_WITH", "opt_length": "LENGTH", "opt_size": "SIZE",
    "opt_empty_p": "EMPTY", "opt_succ": "SUCC", "opt_not": "NOT", "opt_nil_p": "NIL_P",
    "opt_regexpmatch2": "MATCH", "opt_str_freeze": "STR_FREEZE", "opt_str_uminus": "STR_UMINUS",
    "opt_newarray_max": "NEWARRAY_MAX", "opt_newarray_min": "NEWARRAY_MIN",
    "opt_newarray_send": "NEWARRAY_SEND", "send": "SEND", "opt_send_without_block": "SEND",
    "leave": "LEAVE", "opt_invokebuiltin_delegate_leave": "BUILTIN",
}
# What an instruction's attribute "leaf" comes to where it is no constant, by what it is computed by.  Those that
# depend on operands are taken for what they mostly are.
LEAVES = {
    "true": True, "false": False,
    "leafness_of_check_ints": False,
    "leafness_of_checkmatch(flag)": False,  # === is called, but for what a rescue clause names
    "leafness_of_defined(op_type)": False,
    "leafness_of_getglobal(entry)": True, "leafness_of_setglobal(entry)": True,
    "(value_type == VM_SPECIAL_OBJECT_VMCORE)": True,
    "(type == 0) ? true : false": False,  # $1 is more common than $~
}

# Two files, each compiled as a part of the interpreter: the compiler describes every type of theirs.
TYPES = """
#include "ruby/ruby.h"
#include "ruby/encoding.h"
#include "internal.h"
#include "vm_core.h"
#if __has_include("vm_callinfo.h")
#include "vm_callinfo.h"
#endif
#include "iseq.h"
#include "method.h"
#include "symbol.h"
#if __has_include("internal/class.h")
#include "internal/class.h"
#endif
#include "id.h"
#include "insns.inc"
enum { the_singleton_flag = FL_SINGLETON, the_nil = (int)Qnil, the_last_operator_id = tLAST_OP_ID };
"""
COLLECTORS = ("gc/default/default.c", "gc.c")


def version_of(tree):
    """(major, minor, patch) of a source tree."""
    text = (tree / "version.h").read_text() + (tree / "include" / "ruby" / "version.h").read_text()
    numbers = {name: re.search(rf"^#\s*define {name}\s+(\d+)", text, re.M) for name in
               ("RUBY_API_VERSION_MAJOR", "RUBY_API_VERSION_MINOR", "RUBY_VERSION_TEENY")}
    if None in numbers.values():
        sys.exit(f"{tree}: which CRuby it is cannot be seen")
    return tuple(int(match[1]) for match in numbers.values())


def configure(tree, folder):
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".ext").exists():
        with open(folder / "configure-output", "wb") as log:
            subprocess.run([tree / "configure", "-q", "--disable-install-doc", "--disable-dtrace"], cwd=folder,
                           check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    shutil.copy(tree / "probes.dmyh", folder / "probes.h")


def compile_types(tree, folder, scratch):
    """An object file that describes the types, in scratch."""
    config = next((folder / ".ext" / "include").glob("*/ruby/config.h")).parents[1]
    collector = next(tree / name for name in COLLECTORS if (tree / name).exists())
    (scratch / "types.c").write_text(TYPES)
    objects = []
    for source in (scratch / "types.c", collector):
        objects.append(scratch / f"{source.stem}.o")
        # Types that nothing uses are described as well.
        subprocess.run(["cc", "-g", "-w", "-fno-eliminate-unused-debug-types", "-DRUBY_EXPORT", f"-I{folder}",
                        f"-I{config}", f"-I{tree}/include", f"-I{tree}", "-c", source, "-o", objects[-1]], check=True)
    built = scratch / "built.o"
    # Relocatable: both files define the same inline functions.
    subprocess.run(["ld", "-r", "-z", "muldefs", "-o", built, *objects], check=True)
    return built


def instruction_names(tree):
    """In the order of their opcodes."""
    text = (tree / "insns.inc").read_text()
    listed = text[text.index("enum ruby_vminsn_type"):text.index("VM_INSTRUCTION_SIZE")]
    return re.findall(r"\bBIN\((\w+)\)", listed)


def leaf_attributes(tree):
    text = (tree / "insns_info.inc").read_text()
    found = {}
    for name, body in re.findall(r"^attr_leaf_(\w+)\([^{]*\)\n\{\n(.*?)^\}", text, re.M | re.S):
        statement = " ".join(re.sub(r"^#.*\n", "", body, flags=re.M).split())
        found[name] = statement.removeprefix("return ").removesuffix(";")
    return found


def is_leaf(name, attributes):
    computed = attributes[name]
    if computed in LEAVES:
        return LEAVES[computed]
    # What sets the stack pointer itself is none.
    match = re.fullmatch(r"! ?attr_handles_sp_\w+\(.*\)", computed)
    if not match:
        sys.exit(f"whether {name} is a leaf cannot be decided: {computed}")
    return False


def instructions_of(tree):
    """[(operator, whether the frame's pc stays at it while it is executed)]"""
    names = instruction_names(tree)
    attributes = leaf_attributes(tree)
    pc_may_stay = "if (! leaf) ADD_PC" in (tree / "vm.inc").read_text()
    found = []
    for name in names:
        plain = re.sub(r"^(trace|zjit)_", "", name)
        found.append((OPERATORS.get(plain, "NONE"), pc_may_stay and is_leaf(plain, attributes)))
    return found


def initializers(instructions):
    for opcode, (operator, stays) in enumerate(instructions):
        if operator != "NONE" or stays:
            yield f"[{opcode}] = {'STAYS' if stays else 'GOES'}({operator}), "


def is_in(version, name):
    first, last = ONLY_IN.get(name, (None, None))
    return (first is None or first <= version) and (last is None or version <= last)


def row_of(version, release, source, offsets, facts, instructions):
    """The text of the row for a range of the version's releases."""
    major, minor = version
    first, last, moved = release
    offsets = {name: value if is_in(version, name) else None for name, value in (offsets | moved).items()}
    for name, value in offsets.items():
        if value is None and is_in(version, name):
            sys.exit(f"CRuby {major}.{minor} has no {name}: see FIELDS and ONLY_IN of {__file__}")
    flags = {"context_means": f"RUBY_CONTEXT_BY_{'TLS' if version >= CONTEXT_BY_TLS_SINCE else 'LIST'}",
             "class_ext_is_pointer": int(facts["ext_pointer"] is not None),
             "singleton_flag": facts["singleton"].bit_length() - 1,
             "first_line_is_value": int(facts["first_line_size"] == 8),
             "text_length_in_flags": int(facts["embedded_length"] is None),
             "nil": facts["nil"], "last_operator_id": facts["last_operator_id"]}
    if moved:
        source += f"; {', '.join(moved)} as rbspy has it"
    out = [f"\t{{ /* {name_of(version, first)}: {source} */",
           f"\t\t.major = {major}, .minor = {minor}, .first_patch = {first}, .last_patch = {last},",
           *(f"\t\t{line}" for line in lines_of(flags)),
           "\t\t.offsets = {", *(f"\t\t\t{line}" for line in lines_of(offsets)), "\t\t},",
           f"\t\t.instruction_count = {len(instructions)},"]
    if instructions:
        lines = joined(initializers(instructions), 96)
        out += ["\t\t.instructions = {", *(f"\t\t\t{line}" for line in lines), "\t\t},"]
    out.append("\t},")
    return "\n".join(out) + "\n"


def name_of(version, first_patch):
    return ".".join(map(str, version)) + (f".{first_patch}" if first_patch else "")


def rows_of_source(tree, folder):
    *version, patch = version_of(tree)
    version = tuple(version)
    if version not in RELEASES:
        sys.exit(f"CRuby {version[0]}.{version[1]} is not in RELEASES of {__file__}: add a line")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = folder or scratch / "configured"
        configure(tree, folder)
        offsets, facts = find(compile_types(tree, folder, scratch), FIELDS, FACTS)
    instructions = instructions_of(tree)
    if len(instructions) != facts["instructions"]:
        sys.exit(f"{tree}: {len(instructions)} instructions are named, and there are {facts['instructions']}")
    source = f"by the source of {version[0]}.{version[1]}.{patch}"
    return {name_of(version, release[0]): row_of(version, release, source, offsets, facts, instructions)
            for release in RELEASES[version]}


def of_structures(structures, way):
    """As find(), of a file of bindgen's."""
    if isinstance(way, list):
        parts = [of_structures(structures, part) for part in way]
        return None if None in parts else sum(parts)
    if way[0] == "sizeof":
        return structures.size(way[1])
    return structures.offset(*way) if way[0] != "value" else None


def find_in_structures(structures):
    return {name: next((found for found in (of_structures(structures, way) for way in ways) if found is not None), None)
            for name, ways in FIELDS.items()}


def rows_of_structures(folder, version):
    """What the instructions do is left to the names that an interpreter's file has for them."""
    rows = {}
    for release in RELEASES[version]:
        name = ".".join(map(str, (*version, release[0])))
        structures = Structures((folder / f"ruby_{name.replace('.', '_')}.rs").read_text())
        offsets = find_in_structures(structures)
        facts = {"ext_pointer": structures.offset("RClass", "ptr"),
                 "singleton": structures.constants["ruby_fl_type_RUBY_FL_SINGLETON"],
                 "first_line_size": structures.member_size("rb_iseq_location_struct", "first_lineno"),
                 "embedded_length": structures.offset("RString", "len"),
                 "nil": 4, "last_operator_id": structures.constants["ruby_method_ids_tLAST_OP_ID"]}
        rows[name_of(version, release[0])] = row_of(version, release, f"by rbspy's structures of {name}",
                                                    offsets | OPEN[version], facts, [])
    return rows


def compare_structures(folder, header):
    """Prints where a row is not what a release's structures say, and which releases no row is for."""
    rows = {}
    for row in header.rows().values():
        number = {name: int(re.search(rf"\.{name} = (\d+)", row)[1]) for name in
                  ("major", "minor", "first_patch", "last_patch")}
        offsets = dict(re.findall(r"\.(\w+) = (\w+)", row[row.index(".offsets"):row.index(".instruction_count")]))
        for patch in range(number["first_patch"], number["last_patch"] + 1):
            rows[number["major"], number["minor"], patch] = offsets
    differ = False
    for file in sorted(folder.glob("ruby_*.rs")):
        release = tuple(map(int, re.findall(r"\d+", file.name)))
        if release < (2, 7):
            continue
        for name, value in find_in_structures(Structures(file.read_text())).items():
            stands = rows.get(release, {}).get(name, "no row")
            is_comparable = value is not None and is_in(release[:2], name) and (release[:2], name) not in UNCOMPARED
            if is_comparable and str(value) != stands:
                print(f"{'.'.join(map(str, release))}: {name} is {value}, and not {stands}")
                differ = True
    return differ


OUTPUT = pathlib.Path(__file__).parents[1] / "src" / "target" / "ruby_offsets.h"
HEADER = Header(OUTPUT, """/*
 * ruby_offsets - where each CRuby version keeps what a walk reads.
 *
 * Made by tools/ruby_offsets.py: not to be edited.  docs/ruby.md says how to add a version.
 */
#pragma once
#include "target/ruby_row.h"

/* clang-format off */
#define NONE RUBY_NO_FIELD
#define GOES(operator) RUBY_OPERATOR_##operator
#define STAYS(operator) (RUBY_OPERATOR_##operator | RUBY_INSTRUCTION_PC_STAYS)

static const struct ruby_row ruby_rows[] = {
""", "};\n#undef NONE\n#undef GOES\n#undef STAYS\n/* clang-format on */\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--source", action="append", default=[])
    parser.add_argument("--structures", type=pathlib.Path)
    parser.add_argument("--version", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=HEADER.path)
    options = parser.parse_args()

    made = {}
    for version in options.version:
        made |= rows_of_structures(options.structures, tuple(map(int, version.split("."))))
    for asked in options.source:
        tree, _, folder = asked.partition("=")
        made |= rows_of_source(pathlib.Path(tree).resolve(), pathlib.Path(folder) if folder else None)
    header = Header(options.output, HEADER.introduction, HEADER.end)
    if options.structures and not options.version:
        return int(compare_structures(options.structures, header))
    if options.check:
        differ = header.differing(made)
        for name in differ:
            print(f"the row of {name} in {options.output} is not what its source says")
        return 1 if differ else 0
    header.update(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
