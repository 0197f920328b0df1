#!/usr/bin/env python3
"""Holds the output of `fathom report --json` against docs/report-json.schema.json and the rules
that a schema cannot say.

usage: check_report_json.py SCHEMA FILE…     (- for standard input)
"""

import copy
import json
import sys

import jsonschema

PARTS = ("sampled_ns", "thread_only_ns", "lost_ns", "startup_ns", "exit_ns", "unentered_ns", "kernel_unsampled_ns", "traced_ns", "paused_ns")
ROWS = ("functions", "lines", "modules", "packages", "regions", "threads", "processes")
LARGEST = 2**64 - 1


def closed(schema):
    """The schema with no room for fields that it does not name: ours must all stand in it."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema:
        result["additionalProperties"] = False
    return result


def no_key_twice(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice among {keys}"
    return dict(pairs)


def check_rows(report):
    for key in ROWS:
        if key not in report:
            continue
        rows = report[key]
        total = sum(row["self_ns"] for row in rows)
        assert min(total, LARGEST) == report["total_ns"], f"{key} do not add up to total_ns"
        for row in rows:
            assert row["self_ns"] <= row["total_ns"] <= report["total_ns"], row
            if report["recording"]["mode"] == "trace":
                assert row["self_samples"] is None and row["total_samples"] is None, row
                assert row["primitive_calls"] <= row["calls"], row
            else:
                assert row["self_samples"] <= row["total_samples"], row
                assert row["calls"] is None and row["primitive_calls"] is None, row
        assert rows == sorted(rows, key=lambda row: -row["self_ns"]), f"{key} are not in order"


def check_ids(report):
    ids = [row["id"] for row in report["functions"]]
    assert len(ids) == len(set(ids)), "two functions have one id"
    keys = [(row["language"], row["module"], row["name"], row["file"], row["line"])
            for row in report["functions"]]
    assert len(keys) == len(set(keys)), "one function has two rows"
    for row in report.get("lines", []):
        assert row["function"] in ids, row


def check_account(report):
    recording = report["recording"]
    parts = sum(recording[part] or 0 for part in PARTS)
    if report["filter"] is None and recording["mode"] != "trace":
        assert report["total_ns"] == min(parts, LARGEST), \
            f"the account has {parts} ns, the profile {report['total_ns']}"
    if recording["kernel_cpu_ns"] is not None and recording["unexplained_ns"] is not None:
        assert recording["kernel_cpu_ns"] - parts == recording["unexplained_ns"], recording


def check_nodes(nodes, functions):
    by_id = {}
    for index, node in enumerate(nodes):
        assert node["id"] not in by_id, f"two nodes have the id {node['id']}"
        assert (node["parent"] is None) == (index == 0), node
        assert index == 0 or node["parent"] in by_id, f"{node} comes before its parent"
        assert (node["function"] is None) == (index == 0), node
        assert index == 0 or node["function"] in functions, node
        by_id[node["id"]] = dict(node, rest=node["total_ns"] - node["self_ns"])
        if index > 0:
            by_id[node["parent"]]["rest"] -= node["total_ns"]
    for node in by_id.values():
        assert node["rest"] == 0, f"children do not add up: {node}"


def check_trees(report):
    functions = {row["id"]: row for row in report["functions"]}
    if "tree" in report:
        check_nodes(report["tree"], functions)
        assert report["tree"][0]["total_ns"] == report["total_ns"]
    for key in ("callers", "callees"):
        if key not in report:
            continue
        check_nodes(report[key]["nodes"], functions)
        meant = [functions[i] for i in report[key]["functions"] if i in functions]
        assert all(row["name"] == report[key]["name"] for row in meant), report[key]
        if len(meant) == 1:
            assert report[key]["nodes"][0]["total_ns"] == meant[0]["total_ns"], report[key]


def check(text, schema, is_sum_exact=True):
    """Raises an AssertionError or a ValidationError with what is wrong; returns the report."""
    report = json.loads(text, object_pairs_hook=no_key_twice)
    jsonschema.Draft7Validator(closed(copy.deepcopy(schema))).validate(report)
    check_ids(report)
    check_rows(report)
    if is_sum_exact:
        check_account(report)
    check_trees(report)
    return report


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    for path in sys.argv[2:]:
        if path == "-":
            check(sys.stdin.read(), schema)
        else:
            with open(path, encoding="utf-8") as file:
                check(file.read(), schema)
        print(f"{path}: as documented")


if __name__ == "__main__":
    main()
