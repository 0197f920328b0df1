#!/usr/bin/env python3
"""Joins a page, its style and its scripts and writes them as C arrays, NAME_head and NAME_tail.

usage: embed_page.py OUT.c NAME PAGE.html STYLE.css SCRIPT.js...

The page's policy names its script and its style by their hashes, so nothing else
runs in it, whatever a symbol is called.
"""
import base64
import hashlib
import sys
from pathlib import Path


def source_of(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def join_page(page, style, scripts):
    script = '"use strict";\n(() => {\n' + "\n".join(scripts) + "})();\n"
    style = "\n" + style
    policy = f"default-src 'none'; img-src data:; script-src {source_of(script)}; style-src {source_of(style)}"
    page = page.replace("@POLICY@", policy).replace("@SCRIPT_SOURCE@", source_of(script))
    page = page.replace("\n@STYLE@\n", style).replace("@SCRIPT@", script)
    return page.split("@PROFILE@")


def c_array(name, text):
    data = text.encode()
    rows = [", ".join(map(str, data[i:i + 20])) for i in range(0, len(data), 20)]
    return (f"const unsigned char {name}[] = {{\n\t" + ",\n\t".join(rows) + "\n};\n"
            f"const size_t {name}_size = sizeof {name};\n")


def main():
    out, name, page, style, *scripts = sys.argv[1:]
    head, tail = join_page(*(Path(p).read_text() for p in (page, style)),
                           [Path(p).read_text() for p in scripts])
    Path(out).write_text('#include "export/page.h"\n\n'
                         + c_array(f"{name}_head", head) + c_array(f"{name}_tail", tail))


main()
