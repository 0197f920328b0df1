"""A program that embeds Python, unloads it, and runs other code in its place."""

import glob
import os
import unittest

import live

ROUNDS = 300000000


def shared_libraries():
    """Of the interpreters that are here, by version."""
    versions = os.path.expanduser("~/.pyenv/versions")
    return sorted(path for path in glob.glob(os.path.join(versions, "3.*/lib/libpython3.*.so"))
                  if os.path.basename(path) != "libpython3.so")


class UnloadedPython(live.LiveTest):

    def test_code_in_place_of_an_unloaded_python_runs_on_and_has_no_python_functions(self):
        libraries = shared_libraries()
        if not libraries:
            self.skipTest("no shared libpython is here")
        for library in libraries:
            with self.subTest(library):
                recording = self.record(live.workload("unloads_python", library, ROUNDS))
                said = recording.run.stdout.decode().splitlines()[-1:]
                self.assertEqual(recording.run.returncode, 0, said)
                if said == ["it stays loaded"]:
                    continue
                self.assertEqual(said, ["ran"])
                self.assertGreater(recording.time_of("spin", "self_ns"), 0)
                made = [frames for frames, _ in recording.folded() if frames[-1].startswith("[jit]")]
                self.assertNotEqual(made, [])
                for frames in made:
                    self.assertNotIn("<module>", " ".join(frames))


if __name__ == "__main__":
    unittest.main(verbosity=2)
