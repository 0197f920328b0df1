"""The standard library at work in pure Python: parsing JSON, comparing texts, compiling a folder.  Run by counted.py."""

import ast
import compileall
import difflib
import json
import json.decoder
import json.scanner
import os
import shutil
import sys
import textwrap


def parse_json():
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    document = json.dumps([{"name": "n%d" % i, "values": list(range(10)), "more": {"a": None, "b": [1.5, True]}}
                           for i in range(60)])
    assert len(decoder.decode(document)) == 60


def compare_texts():
    old = [textwrap.fill("line %d of some text that is not long" % i, 20) for i in range(60)]
    new = [line.replace("3", "4") for line in old]
    assert list(difflib.unified_diff(old, new))


def compile_folder():
    # A folder of the same name each time: to make up a random one takes another number of calls.
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled")
    os.mkdir(folder)
    try:
        for name in ("decoder.py", "scanner.py", "encoder.py"):
            shutil.copy(os.path.join(os.path.dirname(json.__file__), name), folder)
        assert compileall.compile_dir(folder, quiet=2, force=True)
    finally:
        shutil.rmtree(folder)


def visit_trees():
    class Visitor(ast.NodeVisitor):
        names = 0

        def visit_Name(self, node):
            Visitor.names += 1
            self.generic_visit(node)
    with open(json.decoder.__file__) as file:
        Visitor().visit(ast.parse(file.read()))
    assert Visitor.names


parse_json()
compare_texts()
compile_folder()
visit_trees()
sys.stdout.flush()
