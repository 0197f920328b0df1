"""processes - waits for processes from outside, and ends them."""

import os
import time


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def wait_until(is_so, seconds, otherwise):
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise)
        time.sleep(0.05)


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def command_of(pid):
    """The one child of a recorder, or a shell, that executes another program; a recorder that begins has more children."""
    def commands():
        children = map(int, read_bytes(f"/proc/{pid}/task/{pid}/children").split())
        return [child for child in children if program_of(child) not in (None, program_of(pid))]
    wait_until(lambda: len(commands()) == 1, 300, f"{pid} has no child that executes a command, or more than one")
    return commands()[0]


def cpu_seconds(pid):
    """What a process that runs has burned so far, by the kernel's ticks."""
    fields = read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields:
        raise AssertionError(f"{pid} has ended")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_process(run):
    if run.poll() is None:
        run.kill()
    for stream in (run.stdin, run.stdout, run.stderr):
        if stream:
            stream.close()
    run.wait(timeout=300)
