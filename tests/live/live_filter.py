"""live_filter - a seccomp filter that is there before the recorder is, as in a container."""

import subprocess
import sys

# How it ends where there can be none.
NOT_TO_BE_HAD = 77
# Who calls msync() is killed (seccomp(2), as BPF; its number on x86-64), in this process and what it becomes.
MSYNC_KILLS = """
import ctypes, os, struct, sys
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER, MSYNC = 38, 22, 2, 26
rules = ctypes.create_string_buffer(struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, MSYNC, 6, 0, 0, 0x80000000,
                                                6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 4, ctypes.addressof(rules)))
libc = ctypes.CDLL(None)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
    sys.exit(%d)
os.execv(sys.argv[1], sys.argv[1:])
""" % NOT_TO_BE_HAD


def below(test):
    """The beginning of a command that is executed below it."""
    command = [sys.executable, "-c", MSYNC_KILLS]
    if subprocess.run([*command, "/bin/true"], check=False).returncode == NOT_TO_BE_HAD:
        test.skipTest("this kernel has no seccomp filters")
    return command
