"""stamp - how long a part of a program took, written to a file."""

import contextlib
import time


def now_ns(clock):
    """3.6 has no monotonic_ns()."""
    return int(clock() * 1e9)


@contextlib.contextmanager
def times_in(path):
    begin_ns, cpu_ns = now_ns(time.monotonic), now_ns(time.process_time)
    yield
    end_ns, cpu_ns = now_ns(time.monotonic), now_ns(time.process_time) - cpu_ns
    with open(path, "w") as file:
        file.write(f"{begin_ns} {end_ns} {cpu_ns}\n")
