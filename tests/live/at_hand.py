"""at_hand - interpreters that are here, each as a command line, or why they are not."""

import dataclasses
import functools
import os
import subprocess


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """What it is called here, its path, and whether it is there, which is found out when that is asked."""

    name: str
    version: tuple
    path: str = ""
    missing: str = ""    # what is said if there is no such program
    question: tuple = ()  # options with which it prints its minor version

    @functools.cached_property
    def why_not(self):
        """Why it cannot be used, or nothing: it runs, and is the version that it should be."""
        if not self.path or not os.access(self.path, os.X_OK):
            return self.missing
        done = subprocess.run([self.path, *self.question], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return f"{self.path} does not run: {done.stderr.strip()[-200:]}"
        if done.stdout != ".".join(map(str, self.version)):
            return f"{self.path} is a {type(self).__name__} {done.stdout}"
        return ""

    @property
    def is_there(self):
        return not self.why_not

    def command(self, *arguments):
        return [self.path, *map(str, arguments)]


def version_of(text):
    return tuple(map(int, text.split(".")))


def of_names(interpreters, names):
    """For each name the first such interpreter that is here, or else the first: "debian", "3.8", "3.13t", "3.4-static"."""
    chosen = []
    for name in names:
        such = [one for one in interpreters if name in one.name.split("-", 1)]
        chosen += sorted(such, key=lambda one: not one.is_there)[:1]
    return list(dict.fromkeys(chosen))


def print_list(interpreters):
    for interpreter in interpreters:
        print(f"{interpreter.name:18} {interpreter.path if interpreter.is_there else 'missing: ' + interpreter.why_not}")
