"""stamp - how long a part of a program took, written to a file."""

import contextlib
import time


@contextlib.contextmanager
def times_in(path):
    begin_ns, cpu_ns = time.monotonic_ns(), time.process_time_ns()
    yield
    end_ns, cpu_ns = time.monotonic_ns(), time.process_time_ns() - cpu_ns
    with open(path, "w") as file:
        file.write(f"{begin_ns} {end_ns} {cpu_ns}\n")
