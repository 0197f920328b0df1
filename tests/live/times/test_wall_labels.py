"""What a wait is on, on the wall clock: files by their path, sockets by what they are connected to."""

import os
import subprocess
import sys

import live

# Two FIFOs are read in turn, by the same descriptor; a client waits for its server, which sleeps; both wait for work.
PROGRAM = """
import json, os, select, socket, sys, threading, time
folder = sys.argv[1]
for name in os.listdir(folder):  # of a first sight
    if name in ("first", "second", "app.sock"):
        os.unlink(os.path.join(folder, name))
names = [os.path.join(folder, name) for name in ("first", "second")]
for name in names:
    os.mkfifo(name)
descriptors = set()
def reads():
    for turn in range(3):
        for name in names:
            fd = os.open(name, os.O_RDWR)
            descriptors.add(fd)
            threading.Timer(0.1, os.write, (fd, b"x")).start()
            os.read(fd, 1)
            os.close(fd)
reads()
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
local = socket.socket(socket.AF_UNIX)
local.bind(os.path.join(folder, "app.sock"))
local.listen()
def serves():
    connection = server.accept()[0]
    connection.recv(1)
    time.sleep(0.3)
    connection.send(b"x")
def accepts():
    local.accept()
lock, event = threading.Lock(), threading.Event()
lock.acquire()
def locks():
    lock.acquire()  # here
def waits():
    event.wait()  # there
threads = [threading.Thread(target=target) for target in (serves, accepts, locks, waits)]
for thread in threads:
    thread.start()
time.sleep(0.2)
client = socket.create_connection(("127.0.0.1", port))
pair = socket.socketpair()
poller = select.poll()
for one in (client, *pair):
    poller.register(one, select.POLLIN)
poller.poll(300)
client.send(b"x")
client.recv(1)
socket.socket(socket.AF_UNIX).connect(os.path.join(folder, "app.sock"))
lock.release()
event.set()
for thread in threads:
    thread.join()
print(json.dumps({"port": port, "descriptors": len(descriptors)}))
"""


WRITERS = """
import os, sqlite3, sys, threading, time
path = os.path.join(sys.argv[1], "data.db")
if os.path.exists(path):  # of a first sight
    os.unlink(path)
begun = threading.Event()
def holds():
    data = sqlite3.connect(path)
    data.execute("CREATE TABLE numbers (n)")
    data.execute("BEGIN IMMEDIATE")
    begun.set()
    time.sleep(0.8)
    data.commit()
def wants():
    data = sqlite3.connect(path, timeout=60)
    data.execute("BEGIN IMMEDIATE")
    data.commit()
threads = [threading.Thread(target=target) for target in (holds, wants)]
threads[0].start()
begun.wait()
threads[1].start()
for thread in threads:
    thread.join()
"""


# A loop that waits for its upstream beside a listening socket and a client's connection, and for these alone.
LOOP = """
import json, select, socket, threading, time
def serves(server):
    connection = server.accept()[0]
    time.sleep(0.5)
    connection.send(b"x")
    connection.recv(1)
upstream, own = (socket.create_server(("127.0.0.1", 0)) for i in range(2))
threading.Thread(target=serves, args=(upstream,)).start()
peer = socket.create_connection(upstream.getsockname())
client = socket.create_connection(own.getsockname())
accepted = own.accept()[0]
epoll = select.epoll()
for one in (own, accepted, peer):
    epoll.register(one, select.EPOLLIN)
epoll.poll(5)
epoll.unregister(peer)
epoll.poll(0.4)
peer.send(b"x")
print(json.dumps({"port": upstream.getsockname()[1]}))
"""


# A connection that is not accepted, over the network and locally; a FIFO that is not written to; a peer that does not
# read.
BEFORE_THE_FIRST_BYTE = """
import json, os, socket, sys, threading, time
folder = sys.argv[1]
fifo, path = (os.path.join(folder, name) for name in ("fifo", "full.sock"))
for name in (fifo, path):
    if os.path.exists(name):  # of a first sight
        os.unlink(name)
def fills(server, address, family):
    server.listen(0)
    for turn in range(3):
        one = socket.socket(family)
        one.setblocking(False)
        one.connect_ex(address)
        yield one
remote, local = socket.socket(), socket.socket(socket.AF_UNIX)
remote.bind(("127.0.0.1", 0))
local.bind(path)
address = remote.getsockname()
full = [*fills(remote, address, socket.AF_INET), *fills(local, path, socket.AF_UNIX)]
def connects():
    try:
        socket.create_connection(address, timeout=0.5)
    except OSError:
        pass
def connects_locally():
    one = socket.socket(socket.AF_UNIX)
    one.connect(path)
def opens():
    open(fifo).close()
def sends():
    data = os.path.join(folder, "data")
    with open(data, "wb") as file:
        file.truncate(1 << 26)
    with open(data, "rb") as file:
        while os.sendfile(sender.fileno(), file.fileno(), None, 1 << 26):
            pass
    sender.close()
os.mkfifo(fifo)
slow = socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(slow.getsockname())
receiver = slow.accept()[0]
threads = [threading.Thread(target=target) for target in (connects, connects_locally, opens, sends)]
for thread in threads:
    thread.start()
time.sleep(0.5)
open(fifo, "w").close()
local.settimeout(0.5)
try:
    while True:
        local.accept()
except TimeoutError:
    pass
while receiver.recv(1 << 20):
    pass
for thread in threads:
    thread.join()
print(json.dumps({"port": address[1], "slow": slow.getsockname()[1]}))
"""


class Labels(live.LiveTest):
    compares_times = True

    def test_what_is_waited_for_before_the_first_byte(self):
        recording = self.record([sys.executable, self.write("before.py", BEFORE_THE_FIRST_BYTE), self.folder],
                                "--clock", "wall", rate=100)
        waits = {row["name"]: row["self_ns"] for row in recording.report("--state", "io")["functions"]
                 if row["self_ns"]}
        for call in (f"poll(127.0.0.1:{recording.truth['port']})", f"connect({self.folder}/full.sock)",
                     f"openat({self.folder}/fifo)", f"sendfile(127.0.0.1:{recording.truth['slow']})"):
            self.assertGreater(waits.get(call, 0), 0.2e9, (call, waits))

    def test_what_calls_are_on(self):
        recording = self.record([sys.executable, self.write("app.py", PROGRAM), self.folder], "--clock", "wall",
                                rate=100)
        if recording.truth["descriptors"] != 1:
            self.skipTest("the two files never had the same descriptor")
        port = recording.truth["port"]
        waits = {row["name"]: row["self_ns"] for row in recording.report("--state", "io")["functions"]
                 if row["self_ns"]}
        for call, least_ns in ((f"read({os.path.join(self.folder, 'first')})", 0.2e9),
                               (f"read({os.path.join(self.folder, 'second')})", 0.2e9),
                               (f"recvfrom(127.0.0.1:{port})", 0.2e9),
                               (f"recvfrom(a client of port {port})", 0.2e9),
                               (f"poll(127.0.0.1:{port}, 2 sockets)", 0.2e9),
                               (f"accept4(port {port})", 0.1e9),
                               (f"accept4(connections to {os.path.join(self.folder, 'app.sock')})", 0.3e9)):
            # Where much else runs a thread comes late to its wait.
            self.assertGreater(waits.get(call, 0), least_ns / 2, (call, waits))
        locks = {row["name"] for row in recording.report("--state", "lock")["functions"] if row["self_ns"]}
        lines = PROGRAM.splitlines()
        for mark, what in (("# here", "Lock"), ("# there", "Event.wait")):
            line = next(number for number, text in enumerate(lines, 1) if text.endswith(mark))
            self.assertIn(f"futex({what} at app.py:{line})", locks)

    def test_a_loop_names_the_peers_that_it_waits_for(self):
        recording = self.record([sys.executable, self.write("loop.py", LOOP)], "--clock", "wall", rate=100)
        waits = {row["name"]: row["self_ns"] for row in recording.report("--state", "io")["functions"]
                 if row["self_ns"]}
        self.assertGreater(waits.get(f"epoll_wait(127.0.0.1:{recording.truth['port']})", 0), 0.3e9, waits)
        self.assertGreater(waits.get("epoll_wait", 0), 0.3e9, waits)

    def test_a_thread_that_sleeps_until_a_database_is_free_waits_for_its_lock(self):
        if "libsqlite3" not in subprocess.run(["/usr/bin/python3", "-c", "import _sqlite3; print(open('/proc/self/maps')"
                                               ".read())"], capture_output=True, text=True).stdout:
            self.skipTest("/usr/bin/python3 does not use the library of SQLite: apt-get install libsqlite3-0")
        recording = self.record(["/usr/bin/python3", self.write("app.py", WRITERS), self.folder], "--clock", "wall",
                                rate=100)
        rows = recording.report("--state", "lock")["functions"]
        self.assertGreater(sum(row["total_ns"] for row in rows if row["name"] == "wants"), 0.6e9, rows)
        self.assertIn("clock_nanosleep(Lock of an SQLite database)", [row["name"] for row in rows if row["self_ns"]])
        text = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, timeout=120, text=True)
        self.assertIn("waits for Lock of an SQLite database", text.stdout)


if __name__ == "__main__":
    live.main()
