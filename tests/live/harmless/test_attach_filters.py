"""record -p enters a process below seccomp filters if they allow all that is done in it, and says else what they forbid."""

import os
import pathlib
import re
import subprocess
import unittest

import command_line
import live
import live_attach
import live_filter

KILL, FAIL, ALLOW, LOG = 0x80000000, 0x00050001, 0x7fff0000, 0x7ffc0000
UNKNOWN = 0x00050026
X86_64 = 0xc000003e
PROT_EXEC, PROT_WRITE = 4, 2
SOURCE = pathlib.Path(__file__).resolve().parents[3]
NUMBERS = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"

# What a Python server calls by itself.
OF_PYTHON = """access arch_prctl accept4 bind brk clone clone3 close dup epoll_create1 execve exit exit_group fcntl fstat futex getcwd
getdents64 getegid geteuid getgid getpid getpeername getrandom getsockname gettid getuid ioctl listen lseek lstat madvise mmap mprotect
munmap newfstatat openat poll prctl pread64 prlimit64 read readlink recvfrom rseq rt_sigaction rt_sigprocmask sched_getaffinity sendto
set_robust_list set_tid_address setsockopt shutdown socket stat sysinfo uname write rt_sigreturn getsockopt""".split()


def numbers():
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", pathlib.Path(NUMBERS).read_text())}


def load(offset):
    return (0x20, 0, 0, offset)


def argument(index):
    return load(16 + 8 * index)


def is_equal(value, yes, no):
    return (0x15, yes, no, value)


def answer(value):
    return (6, 0, 0, value)


def on_call(number, rules):
    """The rules decide of this call; they end. What follows decides of others."""
    return (load(0), is_equal(number, 0, len(rules)), *rules)


def only_x86_64():
    return (load(4), is_equal(X86_64, 1, 0), answer(KILL))


def like_a_container():
    """What a container's default forbids: it fails; new namespaces by clone(), and all of clone3(), which it cannot look into."""
    known = numbers()
    rules = [*only_x86_64(), *on_call(known["clone3"], (answer(UNKNOWN),)),
             *on_call(known["clone"], (argument(0), (0x45, 0, 1, 0x7e020000), answer(FAIL), answer(ALLOW)))]
    for name in ("mount", "umount2", "bpf", "perf_event_open", "keyctl", "add_key", "unshare", "setns", "init_module", "swapon", "reboot",
                 "userfaultfd", "kexec_load", "process_vm_readv", "ptrace"):
        rules += on_call(known[name], (answer(FAIL),))
    return (*rules, answer(ALLOW))


def no_new_code():
    return (*on_call(numbers()["mmap"], (argument(2), (0x45, 0, 1, PROT_EXEC), answer(FAIL), answer(ALLOW))), answer(ALLOW))


def no_writable_code():
    """As MemoryDenyWriteExecute= of systemd."""
    known = numbers()
    both = (argument(2), (0x54, 0, 0, PROT_WRITE | PROT_EXEC), is_equal(PROT_WRITE | PROT_EXEC, 0, 1), answer(FAIL), answer(ALLOW))
    made = (argument(2), (0x45, 0, 1, PROT_EXEC), answer(FAIL), answer(ALLOW))
    return (*on_call(known["mmap"], both), *on_call(known["mprotect"], made), answer(ALLOW))


def fails(name):
    return (*on_call(numbers()[name], (answer(FAIL),)), answer(ALLOW))


def needed_calls():
    return set(re.findall(r"\b(?:CALL|MAY_FAIL|MAY_BE_UNKNOWN|MEMORY)\((\w+)[,)]",
                          (SOURCE / "src" / "attach" / "needed_calls.c").read_text().partition("needed_calls[] = {")[2]))


def only(names):
    """Any other call kills."""
    rules = only_x86_64()
    for name in sorted(names):
        rules += on_call(numbers()[name], (answer(ALLOW),))
    return (*rules, answer(KILL))


WORKS = "print('ready', flush=True)\ndef busy():\n    while True: sum(range(1000))\nbusy()\n"
# It puts itself below a filter when its libraries are loaded.
FILTERS_ITSELF = """
import ctypes, struct
rules = %r
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(rules), ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
""" + WORKS
# A second thread gets a filter of its own.
TWO_FILTERS = """
import ctypes, struct, threading
libc = ctypes.CDLL(None)
def below():
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))
    program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 1, ctypes.addressof(code)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
    is_below.set()
    while True: sum(range(1000))
is_below = threading.Event()
threading.Thread(target=below, daemon=True).start()
is_below.wait()
print("ready", flush=True)
threading.Event().wait()
"""


def may_read_filters():
    """Root, which is below none: not in a container."""
    return os.geteuid() == 0 and "Seccomp:\t0" in pathlib.Path("/proc/self/status").read_text()


@unittest.skipUnless(os.path.exists(NUMBERS), f"there is no {NUMBERS}")
class Filters(live_attach.ServerTest):
    def below(self, *filters):
        words = []
        for rules in filters:
            words += live_filter.below(self, rules)
        return words

    def run_below(self, *filters, program=WORKS):
        return self.start([*self.below(*filters), self.need("/usr/bin/python3"), self.write("program.py", program)])

    def assert_entered(self, run):
        for seconds in (0.5, 1, 2, 4, 8, 16):
            recording = self.need_agent(self.attach(run.pid, "--trigger", "sigtrap", "-d", seconds))
            # A busy machine may give it hardly any time.
            sampled = recording.total_ns() - recording.time_of("[start-up]", "total_ns")
            if sampled > 50_000_000:
                break
        self.assertGreater(recording.time_of("busy", "total_ns"), 0.5 * sampled)

    def assert_refused(self, run, *reasons):
        refused = self.attach(run.pid, "--trigger", "sigtrap", "-d", 0.1, expect=command_line.OURS)
        recording = self.attach(run.pid, "-d", 0.3)
        self.assertEqual(recording.head()["trigger"], "copied")
        for reason in reasons:
            self.assertIn(reason, refused.run.stderr.decode())
            self.assertIn(reason, self.notes(recording))
        self.assertEqual(self.facts(run)[2], 0)
        self.assertIsNone(run.poll())

    @unittest.skipUnless(may_read_filters(), "only root, below no filter, can look at filters")
    def test_one_that_allows_all_of_it(self):
        for rules in (like_a_container(), no_writable_code(), (answer(LOG),)):
            self.assert_entered(self.run_below(rules))
        self.assert_entered(self.run_below(like_a_container(), no_writable_code(), fails("mount")))

    @unittest.skipUnless(may_read_filters(), "only root, below no filter, can look at filters")
    def test_one_that_forbids_something_of_it(self):
        self.assert_refused(self.python(FILTERS_ITSELF % (no_new_code(),)), "seccomp", "mmap(PROT_READ | PROT_EXEC)")
        self.assert_refused(self.run_below(like_a_container(), fails("memfd_create")), "memfd_create()")
        self.assert_refused(self.run_below(fails("clone3")), "clone3()")

    @unittest.skipUnless(may_read_filters(), "only root, below no filter, can look at filters")
    def test_threads_that_have_different_ones(self):
        self.assert_refused(self.run_below(program=TWO_FILTERS), "different filters")
        self.assert_refused(self.run_below(fails("mount"), program=TWO_FILTERS), "different filters")

    @unittest.skipUnless(may_read_filters(), "only root, below no filter, can look at filters")
    def test_nothing_is_called_that_is_not_asked_for(self):
        allowed = only({*OF_PYTHON, *needed_calls()})
        command = [*self.below(allowed), self.need("/usr/bin/python3"), self.write("server.py", live_attach.PYTHON_SERVER)]
        self.assert_cycles_harm_nothing(command)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become an ordinary user")
    def test_an_ordinary_user_is_sent_to_root(self):
        as_ordinary_user = ["setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"]
        os.chmod(self.folder, 0o777)
        run = self.start([*self.below(like_a_container()), self.need("setpriv"), *as_ordinary_user[1:], self.need("/usr/bin/python3"),
                          self.write("program.py", WORKS)])
        done = subprocess.run([*as_ordinary_user, live.FATHOM, "record", "-q", "-o", self.path("user.fathom"), "-p", str(run.pid), "-d", "0.3"],
                              capture_output=True, timeout=120)
        if done.returncode != 0 and b"Permission denied" in done.stderr:
            self.skipTest("an ordinary user cannot read this build")
        self.assertEqual(done.returncode, 0, done.stderr)
        recording = live.Recording(self.path("user.fathom"), done)
        self.assertIn("seccomp", self.notes(recording))
        self.assertIn("sudo fathom record", self.notes(recording))


if __name__ == "__main__":
    live.main()
