"""after - starts a program and then a profiler on it: after.py PROFILER… -- PROGRAM…

{pid} among the profiler's words is the program's number.  The profiler that does not end with the program
gets SIGINT.  The exit code is the program's, or 1 if the profiler failed before.
"""

import signal
import subprocess
import sys
import time

BEFORE_S = 0.1


def main():
    at = sys.argv.index("--")
    profiler, program = sys.argv[1:at], sys.argv[at + 1:]
    run = subprocess.Popen(program)
    time.sleep(BEFORE_S)
    beside = subprocess.Popen([word.replace("{pid}", str(run.pid)) for word in profiler], stdin=subprocess.DEVNULL,
                              stdout=sys.stderr)
    code = run.wait()
    had_failed = beside.poll() not in (None, 0)
    try:
        beside.wait(timeout=2)
    except subprocess.TimeoutExpired:
        beside.send_signal(signal.SIGINT)
        beside.wait()
    return code or had_failed


if __name__ == "__main__":
    sys.exit(main())
