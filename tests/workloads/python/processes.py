"""A parent that works and children that work, by each way Python has to make them.

    processes.py fork|spawn|forkserver|subprocess|exec|prefork

Prints how long child_work ran in all children together.
"""

import os
import socket
import subprocess
import sys
import time

CHILDREN = 3
CHILD_NS = 200000000
REQUESTS = 6
REQUEST_NS = 100000000


def clock_ns():
    return time.process_time_ns() if hasattr(time, "process_time_ns") else int(time.process_time() * 1e9)


def burn(spent_ns):
    end = clock_ns() + spent_ns
    while clock_ns() < end:
        pass


def child_work(spent_ns):
    burn(spent_ns)


def parent_work(spent_ns):
    burn(spent_ns)


def with_multiprocessing(how):
    import multiprocessing
    context = multiprocessing.get_context(how)
    children = [context.Process(target=child_work, args=(CHILD_NS,)) for _ in range(CHILDREN)]
    for child in children:
        child.start()
    parent_work(CHILD_NS)
    for child in children:
        child.join()
    return CHILDREN * CHILD_NS


def with_subprocess(how):
    command = [sys.executable, os.path.abspath(__file__), "as-child"]
    children = [subprocess.Popen(command) for _ in range(CHILDREN)]
    parent_work(CHILD_NS)
    for child in children:
        child.wait()
    return CHILDREN * CHILD_NS


def with_exec(how):
    parent_work(CHILD_NS)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), "as-child", "asked"])


def serve(listener):
    """A worker of a prefork server: one request after the other, until one says so."""
    while True:
        connection, _ = listener.accept()
        asked = connection.recv(10)
        if asked == b"work":
            child_work(REQUEST_NS)
        connection.sendall(b"done")
        connection.close()
        if asked == b"end":
            os._exit(0)


def ask(address, what):
    with socket.create_connection(address) as connection:
        connection.sendall(what)
        connection.recv(10)


def with_prefork(how):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    workers = []
    for _ in range(CHILDREN):
        pid = os.fork()
        if pid == 0:
            serve(listener)
        workers.append(pid)
    parent_work(CHILD_NS)
    for _ in range(REQUESTS):
        ask(listener.getsockname(), b"work")
    for worker in workers:
        ask(listener.getsockname(), b"end")
    for worker in workers:
        os.waitpid(worker, 0)
    return REQUESTS * REQUEST_NS


WAYS = {"fork": with_multiprocessing, "spawn": with_multiprocessing, "forkserver": with_multiprocessing,
        "subprocess": with_subprocess, "exec": with_exec, "prefork": with_prefork}


def main():
    if sys.argv[1] == "as-child":
        child_work(CHILD_NS)
        if sys.argv[2:] != ["asked"]:
            return
        child_ns = CHILD_NS
    else:
        child_ns = WAYS[sys.argv[1]](sys.argv[1])
    print('{"child_work": %d, "parent_work": %d}' % (child_ns, CHILD_NS))


if __name__ == "__main__":
    main()
