#!/usr/bin/env python3
"""`meson install` builds what it installs and nothing else.

usage: test_install.py ROOT [TEST…]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


def output_of(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, text=True).stdout


def set_up(folder, *options):
    output_of(["meson", "setup", *options, folder, ROOT])


def commands_for(folder, *targets):
    """What is run to build them from nothing."""
    return set(output_of(["ninja", "-C", folder, "-t", "commands", *targets]).splitlines())


def installed_from(folder):
    """What is built to be installed, as ninja calls it."""
    targets = json.loads(output_of(["meson", "introspect", "--targets", folder]))
    return [os.path.relpath(path, folder) for target in targets if target["installed"] for path in target["filename"]]


class Install(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fathom-install-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_all_that_is_built_without_options_is_needed_by_what_is_installed(self):
        set_up(self.folder)
        installed = installed_from(self.folder)
        self.assertIn("fathom", {os.path.basename(path) for path in installed})
        self.assertEqual(commands_for(self.folder, "all") - commands_for(self.folder, *installed), set())

    def test_fuzzers_are_of_the_tests(self):
        refused = subprocess.run(["meson", "setup", "-Dfuzz=true", self.folder, ROOT], capture_output=True, text=True,
                                 env={**os.environ, "CC": shutil.which("clang-14") or shutil.which("clang") or "clang"})
        self.assertNotEqual(refused.returncode, 0)
        self.assertRegex(refused.stdout, r"-Dfuzz=true needs|Unknown compiler")


if __name__ == "__main__":
    ROOT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
