#!/usr/bin/env python3
"""speedscope's schema holds for our files, and speedscope itself opens them."""
import base64
import json
import pathlib
import tempfile
import unittest

import browser
import exported

VERSION = "1.25.0"


def fetch_speedscope():
    """The folder of speedscope's release, fetched from npm once."""
    exported.need("npm")
    folder = exported.cache_folder(f"speedscope-{VERSION}")
    release = folder / "node_modules/speedscope/dist/release"
    if not (release / "index.html").exists():
        exported.fetch("the npm package speedscope",
                       ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund",
                        "--ignore-scripts", f"speedscope@{VERSION}"])
    return release


class SpeedscopeReader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.release = fetch_speedscope()

    def test_every_profile_is_as_the_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads((self.release / "file-format-schema.json").read_text())
        validator = jsonschema.validators.validator_for(schema)(schema)
        for profile in exported.PROFILES:
            with self.subTest(profile):
                validator.validate(json.loads(exported.export(profile, "speedscope")))
        with self.assertRaises(jsonschema.ValidationError):
            validator.validate({"$schema": schema.get("$id", ""), "profiles": [{}]})

    def test_speedscope_opens_a_profile_and_shows_its_threads(self):
        chromium = browser.find_chromium()
        if chromium is None:
            self.skipTest("chromium is not installed")
        with tempfile.TemporaryDirectory() as folder, browser.Browser(chromium) as page:
            # As speedscope's own command hands a file over.
            script = pathlib.Path(folder) / "profile.js"
            data = base64.b64encode(exported.export("mixed", "speedscope")).decode()
            script.write_text(f'speedscope.loadFileFromBase64("mixed.json", "{data}")')
            page.open(f"file://{self.release}/index.html#localProfilePath={script}")
            page.wait_for("document.title.includes('prog')")
            self.assertIn("./prog -n 3", page.evaluate("document.title"))
            text = page.evaluate("document.body.innerText")
            self.assertIn("prog (100) / main (100) (1/2)", text)


if __name__ == "__main__":
    exported.main()
