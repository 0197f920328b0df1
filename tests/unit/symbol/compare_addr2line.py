#!/usr/bin/env python3
"""The symbolizer's names, files and lines against those of addr2line, on a real binary.

usage: compare_addr2line.py LOOK_UP FILE [COUNT] [DEBUG_ROOT]

Takes addresses spread evenly over the functions of the file and prints how many agree.
Fails unless every function that has a symbol has a name, and at least 99 of 100 addresses
have addr2line's innermost function and line.
"""
import re
import subprocess
import sys


def function_ranges(path):
    """(start, size, name) of the functions in the symbol tables of a file."""
    found = set()
    for table in ("--syms", "--dyn-syms"):
        text = subprocess.run(["readelf", "-W", table, path], capture_output=True, text=True,
                              errors="replace", check=True).stdout
        for line in text.splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[3] in ("FUNC", "IFUNC") and fields[6].isdigit():
                size = int(fields[2], 0)
                if size > 0:
                    found.add((int(fields[1], 16), size, fields[7].split("@")[0]))
    return sorted(found)


def sample_addresses(ranges, count):
    step = max(1, len(ranges) // count)
    # Multiples of a prime spread the addresses over the bodies, without randomness.
    return [start + (i * 7919) % size for i, (start, size, _) in enumerate(ranges[::step])]


def ask_fathom(look_up, path, addresses, debug_root):
    command = [look_up] + (["-d", debug_root] if debug_root else []) + [path]
    out = subprocess.run(command, input="\n".join(f"{a:x}" for a in addresses),
                         capture_output=True, text=True, check=True).stdout
    answers = out.split("\nnotes:")[0].split("\n\n")
    return [[line.split("\t") for line in answer.splitlines()] for answer in answers]


def ask_addr2line(path, addresses):
    text = "\n".join(f"{a:x}" for a in addresses)
    out = subprocess.run(["addr2line", "-a", "-f", "-i", "-C", "-e", path], input=text,
                         capture_output=True, text=True, errors="replace", check=True).stdout
    answers = []
    lines = out.splitlines()
    i = 0
    while i < len(lines):
        i += 1  # the address
        frames = []
        while i < len(lines) and not re.match(r"0x[0-9a-f]{16}$", lines[i]):
            where = re.sub(r" \(discriminator \d+\)$", "", lines[i + 1])
            frames.append((lines[i], where))
            i += 2
        answers.append(frames)
    return answers


def plain(name):
    """A function's name without parameters, template arguments and clone suffixes."""
    return re.split(r"[(<\[.@]", name)[0].split("::")[-1].lstrip("_")


def main():
    look_up, path = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    debug_root = sys.argv[4] if len(sys.argv) > 4 else None
    ranges = function_ranges(path)
    addresses = sample_addresses(ranges, count)
    ours = ask_fathom(look_up, path, addresses, debug_root)
    theirs = ask_addr2line(path, addresses)
    assert len(ours) == len(theirs) == len(addresses)

    named = same_name = same_line = same_depth = lines = 0
    shown = 0
    for address, mine, other in zip(addresses, ours, theirs):
        named += mine[0][6] == "named"
        name_ok = plain(mine[0][0]) == plain(other[0][0])
        their_file, their_line = other[0][1].rsplit(":", 1)
        has_line = their_file != "??" and their_line.isdigit()
        lines += has_line
        # Not the file: binutils 2.40 names the unit's own where a header's line begins it.
        line_ok = has_line and mine[0][2] == their_line
        same_name += name_ok
        same_line += line_ok
        same_depth += len(mine) == len(other)
        if (not name_ok or (has_line and not line_ok) or len(mine) != len(other)) and shown < 12:
            shown += 1
            print(f"differs at {address:#x}:\n  ours   {mine}\n  theirs {other}")
    total = len(addresses)
    print(f"{path}: {total} addresses; named {named}; innermost name as addr2line {same_name}; "
          f"line {same_line} of {lines}; number of inlined calls {same_depth}")
    ok = named == total and same_name >= 0.99 * total and same_line >= 0.99 * lines
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
