"""live_programs - programs of every build, which run as without us."""

import os
import re
import shutil
import subprocess
import tempfile

import live

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
TRIGGERS = ("sigtrap", "timer")
SET_PRIVILEGES = ("setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups")
# Of what sanitizers print: process and thread ids, addresses, and what stands in for them.
PASSING = re.compile(rb"==\d+==|\bpid[= ]\d+|\btid=\d+|0x[0-9a-f]+|BuildId: \w+")
# Ends with 3 after some CPU time.
BURN = """
#include <stdio.h>
int main(void)
{
	volatile unsigned long sum = 1;

	for (int i = 0; i < 100000000; i++)
		sum = sum * 3 + 1;
	puts("burned");
	return 3;
}
"""


def without_passing(text):
    return PASSING.sub(b"_", text)


class ProgramsTest(live.LiveTest):
    """Builds programs in a folder of the class, each once."""

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.mkdtemp(prefix="fathom-programs-")
        cls.addClassCleanup(shutil.rmtree, cls.built, ignore_errors=True)
        os.chmod(cls.built, 0o755)

    def build(self, name, *sources, compiler="gcc", flags=()):
        """A program of sources in programs/; skips the test where it cannot be built."""
        self.need(compiler)
        path = os.path.join(self.built, name)
        if not os.path.exists(path):
            done = subprocess.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", "-o", path,
                                   *[os.path.join(SOURCES, source) for source in sources],
                                   "-pthread", *flags], capture_output=True, timeout=120)
            if done.returncode != 0:
                self.skipTest(f"{compiler} cannot build {name} with {' '.join(flags)}: "
                              f"{done.stderr.decode(errors='replace').splitlines()[-1]}")
        return path

    def build_text(self, name, text, *flags, compiler="gcc"):
        source = os.path.join(self.built, name + ".c")
        with open(source, "w") as file:
            file.write(text)
        return self.build(name, source, compiler=compiler, flags=flags)

    def run_bare(self, command, launcher=(), **options):
        return subprocess.run([*launcher, *command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, cwd=self.folder, **options)

    def assert_same(self, command, *options, runs=1, change=bytes, launcher=(), **run_options):
        """Recorded, a command does as it does without us; its last recording."""
        bare = self.run_bare(command, launcher, **run_options)
        recording = None
        for _ in range(runs):
            recording = self.record(command, *options, expect=None, launcher=launcher, **run_options)
            recorded = recording.run
            self.assertEqual((recorded.returncode % 256, change(recorded.stderr), change(recorded.stdout)),
                             (bare.returncode % 256 if bare.returncode >= 0 else 128 - bare.returncode,
                              change(bare.stderr), change(bare.stdout)))
        return recording

    def assert_sampled(self, recording, name, least=0.5):
        self.assertGreater(recording.time_of(name, "total_ns"), least * recording.total_ns(),
                           recording.report()["functions"][:5])

    def reasons(self, recording):
        """{name: {reasons}} of the processes of a recording that no agent entered."""
        reasons = {}
        for name, reason in recording.rows("SELECT name, unentered_reason FROM processes"
                                           " WHERE unentered_reason IS NOT NULL"):
            reasons.setdefault(name, set()).add(reason)
        return reasons
