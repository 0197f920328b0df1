"""command_line - runs fathom as a person or a script does, and checks how it refuses."""

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

import live

OURS, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
FAILED, USAGE = 1, 2

# An unprivileged user, to which permissions apply.
as_ordinary_user = {"user": live.ORDINARY_USER, "group": live.ORDINARY_USER, "extra_groups": []} if os.geteuid() == 0 else {}


def run(*arguments, **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "timeout": 60, **options}
    return subprocess.run([live.FATHOM, *arguments], **options)


def run_on_terminal(*arguments, folder, stdout_only=False, rows=0, columns=0, **environment):
    """Output and exit code with a terminal for stdout (and stderr)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    done = subprocess.Popen([live.FATHOM, *arguments], stdin=subprocess.DEVNULL, stdout=slave,
                            stderr=subprocess.PIPE if stdout_only else slave, cwd=folder,
                            env={**os.environ, "TERM": "xterm", "FATHOM_PAGER": "", **environment})
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the last one closed it
            break
        if not piece:
            break
        output += piece
    os.close(master)
    done.wait(timeout=300)
    return output.decode(), done.returncode


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fathom-cli-")
        os.chmod(cls.folder, 0o777)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.recording = os.path.join(cls.folder, "good.fathom")
        subprocess.run([live.FATHOM, "record", "-q", "--rate", "5000", "-o", cls.recording, "--",
                        "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"],
                       check=True, timeout=300)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def assert_refused(self, done, code, *parts):
        """One line on stderr that has all parts, nothing on stdout, the exit code."""
        stderr = done.stderr.decode()
        self.assertEqual(done.returncode, code, stderr)
        self.assertTrue(stderr.startswith("fathom: "), stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertEqual(done.stdout, b"")
        for part in parts:
            self.assertIn(part, stderr)
