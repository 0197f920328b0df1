"""live_filter - a seccomp filter that is there before the recorder is, as in a container."""

import subprocess
import sys

# How it ends where there can be none.
NOT_TO_BE_HAD = 77
KILL, ALLOW = 0x80000000, 0x7fff0000
# Rules of BPF (seccomp(2); numbers of calls on x86-64).  A call of msync() kills.
MSYNC_KILLS = ((0x20, 0, 0, 0), (0x15, 0, 1, 26), (6, 0, 0, KILL), (6, 0, 0, ALLOW))
# The rules hold for this process and what it becomes.
LAUNCH = """
import ctypes, os, struct, sys
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
rules = %r
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
    sys.exit(%d)
os.execv(sys.argv[1], sys.argv[1:])
"""


def below(test, rules=MSYNC_KILLS):
    """The beginning of a command that is executed below it."""
    command = [sys.executable, "-c", LAUNCH % (rules, NOT_TO_BE_HAD)]
    if subprocess.run([*command, "/bin/true"], check=False).returncode == NOT_TO_BE_HAD:
        test.skipTest("this kernel has no seccomp filters")
    return command
