"""What doctor says: as root, as an ordinary user, where perf events are refused, in a user namespace, and of interpreters."""

import json
import os
import signal
import subprocess
import sys
import time

import live
import live_filter

# perf_event_open() is refused as perf_event_paranoid 3 and containers do it.
NO_PERF = ((0x20, 0, 0, 0), (0x15, 0, 1, 298), (6, 0, 0, 0x0005000d), (6, 0, 0, 0x7fff0000))


class Doctor(live.LiveTest):
    def doctor(self, *options, launcher=(), expect=0, **run_options):
        done = subprocess.run([*launcher, live.FATHOM, "doctor", "--json", *options], capture_output=True, timeout=300,
                              check=False, cwd="/", **run_options)
        self.assertEqual(done.returncode, expect, (done.stdout + done.stderr).decode())
        answer = json.loads(done.stdout)
        self.assertEqual(answer["verdict"], "wrong" if expect else "ok")
        return {(check["group"], check["name"]): check for check in answer["checks"]}

    def as_ordinary_user(self):
        if os.geteuid() != 0:
            return ()
        self.need("setpriv")
        return ("setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups")

    def test_the_known_work_comes_out_as_it_is(self):
        checks = self.doctor("--seconds", "3", "--rate", "1000")
        self.assertEqual(checks["trial", "shares"]["verdict"], "ok")
        self.assertIn("1000 Hz make", checks["trial", "samples"]["text"])
        self.assertIn("pairs in turn", checks["trial", "cost"]["text"])
        self.assertRegex(checks["trial", "handler"]["text"], r"^\d+\.\d µs a sample")

    def test_where_nothing_can_be_recorded_is_wrong(self):
        checks = self.doctor("--seconds", "1", expect=1, env={**os.environ, "FATHOM_AGENT": self.path("gone")})
        self.assertEqual(checks["trial", "recording"]["verdict"], "wrong")

    def test_without_an_agent_the_shares_are_wrong(self):
        """It records, and no sample comes."""
        empty = self.path("agents")
        os.mkdir(empty)
        for kind in ("record", "trace"):
            subprocess.run([self.need("gcc"), "-shared", "-xc", "/dev/null", "-o", f"{empty}/libfathom-agent-{kind}.so"],
                           check=True, timeout=300)
        checks = self.doctor("--seconds", "1", expect=1, env={**os.environ, "FATHOM_AGENT": empty})
        self.assertEqual(checks["trial", "shares"]["verdict"], "wrong")

    def test_copied_stacks(self):
        done = subprocess.run([live.FATHOM, "doctor", "-s", "0", "--trigger", "copied"], capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        if self.doctor("--seconds", "0")["machine", "trigger"]["text"].startswith("timer: "):
            self.skipTest("copied stacks need perf events, which this machine refuses")
        checks = self.doctor("--seconds", "1", "--trigger", "copied")
        # A second has few samples, at the kernel's tick fewer.
        self.assertIn(checks["trial", "shares"]["verdict"], ("ok", "limited"))
        self.assertIn("the recorder's own time is not in it", checks["trial", "cost"]["text"])
        self.assertNotIn(("trial", "rates"), checks)

    def test_an_ordinary_user(self):
        checks = self.doctor("--seconds", "0", launcher=self.as_ordinary_user())
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            level = int(file.read())
        if level == 2:
            self.assertEqual(checks["machine", "trigger"]["verdict"], "ok")
            self.assertEqual(checks["machine", "system time"]["verdict"], "limited")
            self.assertIn("kernel.perf_event_paranoid=1", checks["machine", "system time"]["remedy"])

    def test_a_filter_that_refuses_perf_events(self):
        checks = self.doctor("--seconds", "1", launcher=live_filter.below(self, NO_PERF))
        self.assertEqual(checks["machine", "trigger"]["verdict"], "limited")
        self.assertTrue(checks["machine", "trigger"]["text"].startswith("timer: "))
        self.assertIn("--cap-add PERFMON", checks["machine", "trigger"]["remedy"])
        # A second has few samples, at the kernel's tick fewer.
        self.assertIn(checks["trial", "shares"]["verdict"], ("ok", "limited"))

    def test_a_user_namespace(self):
        unshare = (self.need("unshare"), "--user", "--map-root-user")
        if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
            self.skipTest("this machine allows no user namespaces")
        checks = self.doctor("--seconds", "0", launcher=unshare)
        self.assertIn("an ordinary user outside", checks["machine", "namespace"]["text"])
        if checks["machine", "system time"]["verdict"] == "limited":
            self.assertIn("user namespace", checks["machine", "system time"]["remedy"])

    def in_mounts(self, *commands):
        """The beginning of a command that is executed with mounts of its own."""
        script = " && ".join([*commands, 'exec "$@"'])
        unshare = (self.need("unshare"), "--mount", "sh", "-c", script, "sh")
        if os.geteuid() != 0 or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
            self.skipTest("mounts of one's own need root, and a machine that allows them")
        return unshare

    def test_without_names_of_the_kernel(self):
        checks = self.doctor("--seconds", "0", launcher=self.in_mounts("mount --bind /dev/null /proc/kallsyms"))
        names = checks["machine", "kernel names"]
        self.assertEqual(names["verdict"], "limited")
        # Root is refused nothing: it is not CAP_SYSLOG that would help.
        self.assertIn("is empty", names["text"])
        self.assertIn("a container may have a file in its place", names["remedy"])

    def test_without_proc(self):
        checks = self.doctor("--seconds", "1", launcher=self.in_mounts("mount -t tmpfs none /proc"), expect=1)
        self.assertEqual(checks["machine", "/proc"]["verdict"], "wrong")
        self.assertIn("mount -t proc", checks["machine", "/proc"]["remedy"])
        self.assertEqual(checks["trial", "recording"]["verdict"], "wrong")

    def test_an_interrupt_leaves_nothing_behind(self):
        os.mkdir(self.path("interrupted"))
        with subprocess.Popen([live.FATHOM, "doctor", "-s", "60"], env={**os.environ, "TMPDIR": self.path("interrupted")},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            deadline = time.monotonic() + 100
            while not os.listdir(self.path("interrupted")) and time.monotonic() < deadline:
                time.sleep(0.02)
            # As a terminal sends it: to all of them.
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=100)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual([name for name in os.listdir(self.path("interrupted")) if name.startswith("fathom-doctor")], [])

    def test_interpreters_of_path(self):
        real = os.path.realpath(sys.executable)
        os.symlink(real, self.path("python3"))
        self.write("python3.9", "#!/bin/sh\n")
        self.write("ruby", "no program")
        for name in ("python3.9", "ruby"):
            os.chmod(self.path(name), 0o755)
        os.symlink("/bin/true", self.path("python"))
        # What opens it waits for ever.
        os.mkfifo(self.path("python3.10"), 0o755)
        checks = self.doctor("--seconds", "0", env={"PATH": self.folder})
        found = [name for group, name in checks if group == "interpreters"]
        self.assertEqual(found, [real])
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertEqual(checks["interpreters", real]["text"], f"CPython {version}: its frames are in the stacks")

    def test_the_text_is_for_eyes(self):
        done = subprocess.run([live.FATHOM, "doctor", "-s", "0"], capture_output=True, timeout=300, check=True)
        text = done.stdout.decode()
        self.assertRegex(text, r"(?m)^  (ok|limited) +trigger +\w+: ")
        self.assertTrue(text.endswith("Profiles can be trusted here.\n"), text)
        self.assertNotIn("\033", text)

    def test_it_leaves_nothing_behind(self):
        os.mkdir(self.path("empty"))
        self.doctor("--seconds", "1", env={**os.environ, "TMPDIR": self.path("empty")})
        left = [name for name in os.listdir(self.path("empty")) if name.startswith("fathom-doctor")]
        self.assertEqual(left, [])
        self.doctor("--seconds", "1", expect=1, env={**os.environ, "TMPDIR": self.path("gone")})


if __name__ == "__main__":
    live.main()
