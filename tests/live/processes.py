"""processes - waits for processes from outside, and ends them."""

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


def end_process(run):
    if run.poll() is None:
        run.kill()
    for stream in (run.stdin, run.stdout, run.stderr):
        if stream:
            stream.close()
    run.wait(timeout=10)
