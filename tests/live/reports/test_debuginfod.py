"""Names of stripped code from a server: libdebuginfod asks it, and fathom uses what it gets."""

import ctypes.util
import http.server
import os
import re
import shutil
import subprocess
import threading

import live

PROGRAM = """
static volatile unsigned long sink;
__attribute__((noinline)) static void hidden(unsigned long n) { while (n--) sink += n; }
int main(void) { hidden(300000000UL); return 0; }
"""


class Debuginfod(live.LiveTest):
    def setUp(self):
        super().setUp()
        if not ctypes.util.find_library("debuginfod") and not self.has_library():
            self.skipTest("libdebuginfod.so.1 is not installed")
        compiler, objcopy = self.need("cc"), self.need("objcopy")
        source = self.write("program.c", PROGRAM)
        self.folder = os.path.dirname(source)
        self.program = os.path.join(self.folder, "program")
        subprocess.run([compiler, "-g", "-O1", "-Wl,--build-id", "-o", self.program, source], check=True, timeout=300)
        self.debug = self.program + ".served"
        subprocess.run([objcopy, "--only-keep-debug", self.program, self.debug], check=True, timeout=300)
        subprocess.run([self.need("strip"), self.program], check=True, timeout=300)
        notes = subprocess.run([self.need("readelf"), "-n", self.program], capture_output=True, text=True, check=True,
                               timeout=300).stdout
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        self.asked = []
        self.drips = False
        self.is_over = threading.Event()
        self.serve()

    def has_library(self):
        try:
            ctypes.CDLL("libdebuginfod.so.1")
            return True
        except OSError:
            return False

    def serve(self):
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                test.asked.append(self.path)
                is_known = self.path == f"/buildid/{test.build_id}/debuginfo"
                self.send_response(200 if is_known else 404)
                with open(test.debug, "rb") as file:
                    body = file.read() if is_known else b""
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                for byte in body if test.drips else b"":
                    if test.is_over.wait(1):
                        return
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                self.wfile.write(b"" if test.drips else body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(self.is_over.set)
        self.environment = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_address[1]}/",
                            "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, "cache"), "no_proxy": "127.0.0.1"}

    def report(self, name, *options, **environment):
        """What record prints of the program at its end."""
        path = os.path.join(self.folder, name)
        done = subprocess.run([live.FATHOM, "record", "-o", path, *options, "--", self.program],
                              env={**self.environment, **environment}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_static_function_of_a_stripped_program_has_its_name_and_lines(self):
        self.assertRegex(self.report("a.fathom"), r"\bhidden +program\.c:3\b")
        self.assertIn(f"/buildid/{self.build_id}/debuginfo", self.asked)

    def test_what_is_in_the_cache_is_not_asked_for_again(self):
        self.report("b.fathom")
        before = self.asked.count(f"/buildid/{self.build_id}/debuginfo")
        self.assertIn("hidden", self.report("c.fathom"))
        self.assertEqual(self.asked.count(f"/buildid/{self.build_id}/debuginfo"), before)

    def test_nothing_is_asked_where_it_is_not_wanted(self):
        self.assertNotIn("hidden", self.report("d.fathom", "--no-debuginfod"))
        self.assertNotIn("hidden", self.report("e.fathom", DEBUGINFOD_URLS=""))
        self.assertEqual(self.asked, [])

    def test_a_server_that_has_nothing_or_is_gone_leaves_the_report_as_it_was(self):
        os.rename(self.debug, self.debug + ".x")
        with open(self.debug, "wb"):
            pass
        self.assertIn("program+0x", self.report("f.fathom"))
        self.assertIn("program+0x", self.report("g.fathom", DEBUGINFOD_URLS="http://127.0.0.1:9/",
                                                DEBUGINFOD_CACHE_PATH=os.path.join(self.folder, "other")))


    def test_a_server_that_sends_a_byte_a_second_is_given_up(self):
        self.drips = True
        said = " ".join(self.report("h.fathom", DEBUGINFOD_TIMEOUT="2").split())
        self.assertRegex(said, r"a server of DEBUGINFOD_URLS was too slow, and is asked for nothing more \(\d bytes in [2-9] s\)")
        self.assertIn("program+0x", said)
        self.assertEqual(len(self.asked), len(set(self.asked)), "it was asked again")


class Packages(live.LiveTest):
    def test_where_names_are_missing_the_package_that_has_them_is_named(self):
        sort = "/usr/bin/sort"
        if not os.path.exists("/var/lib/dpkg/info/coreutils.list") or not os.path.exists(sort):
            self.skipTest("this is no Debian")
        text = self.write("text", "".join(f"{n * 7919 % 300000} line\n" for n in range(300000)))
        done = subprocess.run([live.FATHOM, "record", "--no-debuginfod", "-o", "s.fathom", "--", sort,
                               "--parallel=1", "--buffer-size=32M", "-o", "sorted", text],
                              cwd=os.path.dirname(text), capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "80", "LC_ALL": "C"})
        if "sort+0x" not in done.stderr:
            self.skipTest("sort has names here")
        said = " ".join(done.stderr.split())
        self.assertRegex(said, r"% is in code without names, mostly sort: install coreutils-dbgsym, or set DEBUGINFOD_URLS")
        self.assertLessEqual(max(map(len, done.stderr.splitlines())), 80)


if __name__ == "__main__":
    live.main()
