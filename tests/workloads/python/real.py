"""What real programs do with threads, processes, servers and signals: real.py PART

Each part counts its calls of leaf() by itself and prints the same whenever it is run, with the count at last.
"""

import asyncio
import concurrent.futures
import ctypes
import http.server
import json
import multiprocessing
import os
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import threading
import urllib.request

counted = []  # a call is an element: appending is atomic
_count = counted.append


def leaf(number=0):
    _count(number)
    return number


def count_leaves(number):
    """In a process of a pool: how often it called leaf()."""
    before = len(counted)
    for i in range(number):
        leaf(i)
    return len(counted) - before


def fails(number):
    raise KeyError(leaf(number))


async def talk(port, lines):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in range(lines):
        writer.write(b"line %d\n" % number)
        assert await reader.readline() == b"LINE %d\n" % leaf(number)
    writer.close()


async def answer(reader, writer):
    while True:
        line = await reader.readline()
        if not line:
            break
        leaf()
        writer.write(line.upper())
    writer.close()


async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield leaf(number)


async def waits():
    try:
        await asyncio.sleep(60)
    finally:
        leaf()


async def tasks():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    await asyncio.gather(*(talk(server.sockets[0].getsockname()[1], 20) for _ in range(10)))
    server.close()
    print(sum([number async for number in numbers(30)]))
    task = asyncio.ensure_future(waits())
    await asyncio.sleep(0)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True) != [])
    print(await asyncio.get_event_loop().run_in_executor(None, count_leaves, 7))


def run_asyncio():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(tasks())
    loop.close()


def run_threads():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(sum(pool.map(leaf, range(500))))
        print(repr(pool.submit(fails, 3).exception()))
    timer = threading.Timer(0.01, leaf)
    timer.start()
    timer.join()


def run_processes(method):
    found = 0
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        found += sum(pool.map(count_leaves, range(20)))
        try:
            pool.apply(fails, (4,))
        except KeyError as error:
            found += error.args[0] // 4
    counted.extend(range(found))


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        leaf()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, *arguments):
        pass


class Pages(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def run_http():
    server = Pages(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def get(thread):
        for number in range(10):
            url = "http://127.0.0.1:%d/%d" % (server.server_port, thread)
            assert urllib.request.urlopen(url, timeout=60).read() == b"/%d" % leaf(thread)
    threads = [threading.Thread(target=get, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.shutdown()


class Forking(socketserver.ForkingMixIn, socketserver.TCPServer):
    pass


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"%d" % count_leaves(int(self.rfile.readline())))


def run_forks():
    server = Forking(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for number in range(8):
        with socket.create_connection(server.server_address) as connection:
            connection.sendall(b"%d\n" % number)
            counted.extend(range(int(connection.makefile().read())))
    server.shutdown()
    thread.join()
    server.server_close()


def run_database():
    database = sqlite3.connect(":memory:")
    database.create_function("leaf", 1, leaf)
    database.create_collation("backwards", lambda a, b: (a < b) - (a > b))
    database.execute("create table t(x integer, y text)")
    database.executemany("insert into t values (?, ?)", ((number, str(number)) for number in range(500)))
    print(database.execute("select sum(leaf(x)) from t").fetchall())
    print(database.execute("select y from t order by y collate backwards limit 3").fetchall())


def run_callbacks():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    array = (ctypes.c_int * 50)(*((number * 37) % 50 for number in range(50)))
    ctypes.CDLL(None).qsort(array, 50, 4, compare(lambda a, b: leaf(a[0]) - b[0]))
    print(list(array) == list(range(50)))


class Interrupted(Exception):
    pass


def interrupt(number, frame):
    leaf()
    raise Interrupted


def run_signals():
    signal.signal(signal.SIGALRM, interrupt)
    caught = 0
    while caught < 30:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            while True:
                abs(len("text"))
        except Interrupted:
            caught += 1


def run_children():
    for number in range(3):
        script = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'exit(%d)']))" % number
        print(leaf(subprocess.call([sys.executable, "-c", script])))
    print(subprocess.call([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]))
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    sleeper.terminate()
    print(sleeper.wait())
    for number in range(20):
        child = os.fork()
        if child == 0:
            os._exit(number)
        assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == leaf(number)


PARTS = {"asyncio": run_asyncio, "threads": run_threads, "fork": lambda: run_processes("fork"),
         "spawn": lambda: run_processes("spawn"), "forkserver": lambda: run_processes("forkserver"), "http": run_http,
         "forks": run_forks, "database": run_database, "callbacks": run_callbacks, "signals": run_signals,
         "children": run_children}

if __name__ == "__main__":
    PARTS[sys.argv[1]]()
    sys.stdout.flush()
    print(json.dumps({"leaves": len(counted)}))
