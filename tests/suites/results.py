"""results - what each single test of a suite came to, read from what the suite left.

Each reader takes a `Finished` run of one unit and returns {name of the test: outcome}.  An outcome
is a word; two runs are the same when every test has the same one.
"""

import dataclasses
import hashlib
import pathlib
import re
import xml.etree.ElementTree

COLOURS = re.compile(r"\033\[[0-9;]*m")
REDIS = re.compile(r"^\[(ok|err|exception|timeout|skip|ignore)\]: (.*?)(?: \(\d+ ms\))?$", re.M)
SQLITE = re.compile(r"^\.*(\S+)\.\.\. (Ok|Omitted|skipped)$|^! (\S+) expected:", re.M)
UNITTEST = re.compile(r"^(\w+) \((\S+)\)(?:\n.*)? \.\.\. "
                      r"(ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b", re.M)
RUBY = re.compile(r"^\[ *\d+/\d+\] (\S+) = [\d.]+ s", re.M)
RUBY_OTHERS = re.compile(r"^ *\d+\) (Failure|Error|Skipped|Timeout):\n(\S+#[^\s:]+)", re.M)
AUTOMAKE = re.compile(r"^:test-result: (\w+)", re.M)


@dataclasses.dataclass
class Finished:
    """One unit that ran: where, how it ended, and all that it wrote to stdout and stderr."""

    folder: pathlib.Path  # the source tree, or the unit's own folder when there is none
    scratch: pathlib.Path  # for what the command was asked to write
    ending: str
    output: str


def junit(finished):
    """What `python -m test --junit-xml` writes."""
    path = finished.scratch / "junit.xml"
    if not path.exists():
        return {}
    outcomes = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        kinds = {element.tag for element in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        # Subtests come under the name of their test: one that failed is the test's result.
        if outcomes.get(case.get("name")) != "failed":
            outcomes[case.get("name")] = outcome
    return outcomes


def unittest(finished):
    """What a verbose unittest says, of versions that write no JUnit: name (class) ... ok"""
    outcomes = {f"{group}.{name}": outcome for name, group, outcome in UNITTEST.findall(finished.output)}
    # Some units are nothing but doctests.
    return outcomes or {"unit": finished.ending}


def ruby(finished):
    """The lines of Ruby's own runner, [1/34] TestGc#test_count = 0.02 s, and what it lists behind them."""
    outcomes = {name: "passed" for name in RUBY.findall(finished.output)}
    outcomes.update({name: outcome.lower() for outcome, name in RUBY_OTHERS.findall(finished.output)})
    return outcomes


def redis(finished):
    """The lines of `runtest`: [ok]: name (7 ms).  A name may come more than once."""
    outcomes = {}
    for outcome, name in REDIS.findall(COLOURS.sub("", finished.output)):
        name = re.sub(r"0x[0-9a-f]+|\d{5,}", "N", name)
        turn = 1
        while f"{name} #{turn}" in outcomes:
            turn += 1
        outcomes[f"{name} #{turn}"] = outcome
    return outcomes


def sqlite(finished):
    """The lines of testfixture: select1-1.1... Ok"""
    outcomes = {}
    for name, outcome, wrong in SQLITE.findall(finished.output):
        if wrong:
            outcomes[wrong] = "failed"
        else:
            outcomes.setdefault(name, outcome.lower())
    return outcomes


def automake(finished):
    """The .trs file beside each test; removed, so that the next run's are its own."""
    outcomes = {}
    for path in sorted(finished.folder.glob("tests/**/*.trs")):
        for outcome in AUTOMAKE.findall(path.read_text()):
            outcomes[str(path.relative_to(finished.folder).with_suffix(""))] = outcome.lower()
        path.unlink()
    return outcomes


def output(finished):
    """The whole unit is one test: all it said, and how it ended."""
    # Process numbers are new each time: "cannot set terminal process group (4711)".
    said = re.sub(r"\(\d+\)", "(N)", finished.output).encode()
    digest = hashlib.sha1(said).hexdigest()[:8]
    return {"output": f"{finished.ending}, {len(said.splitlines())} lines ({digest})"}
