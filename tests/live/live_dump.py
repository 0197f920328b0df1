"""live_dump - programs that wait, and what `fathom dump` says of them."""

import json
import os
import re
import subprocess

import live
import processes

FATHOM = live.FATHOM
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "workloads")


with open(os.path.join(os.path.dirname(SOURCES), "..", "docs", "dump.schema.json"), encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)
TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def misfit(value, schema, where="dump"):
    """What of a value is not as the schema says, or None: of JSON Schema what ours uses."""
    if "$ref" in schema:
        return misfit(value, SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]], where)
    if "anyOf" in schema:
        misfits = [misfit(value, choice, where) for choice in schema["anyOf"]]
        return None if None in misfits else misfits[-1]
    if value != schema.get("const", value) or value not in schema.get("enum", [value]):
        return f"{where} is {value!r}"
    kinds = schema.get("type", list(TYPES))
    if not any(type(value) is TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return f"{where} is {value!r}, not {kinds}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        return f"{where} is {value!r}"
    parts = []
    if isinstance(value, dict):
        if set(value) != set(schema["required"]):
            return f"{where} has {sorted(set(value) ^ set(schema['required']))} or has not"
        parts = [misfit(value[key], schema["properties"][key], f"{where}.{key}") for key in value]
    elif isinstance(value, list):
        parts = [misfit(item, schema["items"], f"{where}[{i}]") for i, item in enumerate(value)]
    return next((part for part in parts if part), None)


class DumpTest(live.LiveTest):
    def start(self, command, **options):
        """A program that prints a line when it is ready, and ends with its standard input."""
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.addCleanup(processes.end_process, run)
        run.first_line = run.stdout.readline()
        return run

    def compile(self, name, source, *flags, compiler="gcc"):
        """A program of a file in tests/workloads; skips the test where it cannot be built."""
        program = self.path(name)
        done = subprocess.run([self.need(compiler), "-g", "-w", *flags, "-pthread", os.path.join(SOURCES, source),
                               "-o", program], capture_output=True, timeout=120)
        if done.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(flags)}: {done.stderr.decode(errors='replace').splitlines()[-1]}")
        return program

    def dump(self, pid, *options, as_user=None, variables=None):
        done = self.dump_run(pid, "--json", *options, as_user=as_user, variables=variables)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr)
        return self.parse(done.stdout)

    def parse(self, text):
        dump = json.loads(text)
        self.assertIsNone(misfit(dump, SCHEMA))
        return dump

    def dump_run(self, pid, *options, as_user=None, variables=None):
        more = {"user": as_user, "group": as_user, "extra_groups": []} if as_user is not None else {}
        return subprocess.run([FATHOM, "dump", str(pid), *options], capture_output=True, timeout=300,
                              env={**os.environ, **(variables or {})}, **more)

    def dump_until(self, pid, is_so, otherwise, *options):
        """The dump of a program that is on its way to where it is to be looked at."""
        seen = {}

        def look():
            seen["dump"] = self.dump(pid, *options)
            return is_so(seen["dump"])
        processes.wait_until(look, 300, otherwise)
        return seen["dump"]


def names(thread, language=None):
    """The functions of a thread, innermost first."""
    return [frame["name"] for frame in thread["frames"] if language in (None, frame["language"])]


def places(thread, language):
    """[(name, line)], innermost first; not Python's C functions, which have no line."""
    return [(frame["name"], frame["line"]) for frame in thread["frames"]
            if frame["language"] == language and (language != "python" or frame["line"] is not None)]


def is_resting(dump):
    return all(thread["trust"] == "consistent" for thread in dump["threads"])
