"""at_hand - interpreters that are here, each as a command line, or why they are not."""

import dataclasses
import os
import subprocess


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """What it is called here, and its path or why there is none."""

    name: str
    version: tuple
    path: str = ""
    why_not: str = ""

    @property
    def is_there(self):
        return not self.why_not

    def command(self, *arguments):
        return [self.path, *map(str, arguments)]


def version_of(text):
    return tuple(map(int, text.split(".")))


def asked(kind, name, minor, path, question, otherwise):
    """The interpreter, of this kind of Interpreter, if it answers the question (options) with its minor version.

    Why there is none is said in `otherwise` if there is no such program.
    """
    version = version_of(minor)
    if not os.access(path, os.X_OK):
        return kind(name, version, why_not=otherwise)
    done = subprocess.run([path, *question], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        return kind(name, version, why_not=f"{path} does not run: {done.stderr.strip()[-200:]}")
    if done.stdout != minor:
        return kind(name, version, why_not=f"{path} is a {kind.__name__} {done.stdout}")
    return kind(name, version, str(path))


def print_list(interpreters):
    for interpreter in interpreters:
        print(f"{interpreter.name:18} {interpreter.path or 'missing: ' + interpreter.why_not}")
