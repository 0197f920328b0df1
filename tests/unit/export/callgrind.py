"""callgrind - a reader of callgrind's format, as far as fathom writes it, from its manual alone.

https://valgrind.org/docs/manual/cl-format.html
"""

import re

NUMBERED = re.compile(r"\((\d+)\)(?: (.*))?$")


class Callgrind:
    """own: {(module, file, name): cost}; calls: {(caller, callee): (calls, cost)}"""

    def __init__(self, text):
        self.head = {}
        self.own = {}
        self.calls = {}
        names = {"file": {}, "module": {}, "name": {}}
        kinds = {"fl": "file", "fi": "file", "fe": "file", "cfi": "file", "cfl": "file", "ob": "module",
                 "cob": "module", "fn": "name", "cfn": "name"}
        at = {}
        pending = None
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if not line or line.startswith("#"):
                continue
            if key in kinds:
                number, name = NUMBERED.match(value).groups()
                known = names[kinds[key]]
                if name is not None:
                    assert number not in known, line
                    known[number] = name
                at[key] = known[number]
                if key == "fn":
                    at.pop("cob", None)
                    at.pop("cfi", None)
            elif key == "calls":
                pending = int(value.split()[0])
            elif re.match(r"\d+ \d+$", line):
                cost = int(line.split()[1])
                caller = (at["ob"], at["fl"], at["fn"])
                if pending is None:
                    self.own[caller] = self.own.get(caller, 0) + cost
                    continue
                callee = (at.get("cob", at["ob"]), at.get("cfi", at["fl"]), at["cfn"])
                assert (caller, callee) not in self.calls, line
                self.calls[caller, callee] = (pending, cost)
                pending = None
            else:
                key, _, value = line.partition(":")
                self.head[key] = value.strip()
