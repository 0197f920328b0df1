"""record -p enters processes whose memory allocator keeps a cache for each thread, and the cache of its own thread goes with that."""

import glob
import os
import re

import live
import live_attach

LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libtcmalloc.so.4", "libmimalloc.so.2")
# At each line a thread begins, and stays: it takes the stack that a thread of an attach has left, so
# that the next attach's has to be allocated.  At the end the allocator looks at all of its caches.
KEEPS_THREADS = """
import ctypes, sys, threading, time
own = ctypes.CDLL(None)
is_over = threading.Event()
def work():
    while True: sum(i * i for i in range(1000))
threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    threading.Thread(target=is_over.wait, daemon=True).start()
    print("started", flush=True)
if hasattr(own, "mallctl"):
    own.malloc_stats_print(None, None, b"")
    threads, size = ctypes.c_uint(), ctypes.c_size_t(4)
    assert own.mallctl(b"epoch", None, None, ctypes.byref(ctypes.c_uint64(1)), ctypes.c_size_t(8)) == 0
    total = 0
    for arena in range(1024):
        if own.mallctl(b"stats.arenas.%d.nthreads" % arena, ctypes.byref(threads), ctypes.byref(size), None, ctypes.c_size_t(0)) == 0:
            total += threads.value
    print("caches", total, flush=True)
if hasattr(own, "MallocExtension_GetStats"):
    text = ctypes.create_string_buffer(65536)
    own.MallocExtension_GetStats(text, ctypes.c_int(len(text)))
    print("caches", text.value.decode().partition("Thread heaps in use")[0].split("\\n")[-1].split()[1], flush=True)
"""


class Allocators(live_attach.ServerTest):
    def library(self, name):
        for folder in glob.glob("/usr/lib/*-linux-gnu"):
            if os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name)
        self.skipTest(f"{name} is not installed")

    def caches_of(self, library, attaches):
        """How many threads the allocator knows at the end, after attaches; None if it does not say."""
        run = self.python(KEEPS_THREADS, env={**os.environ, "LD_PRELOAD": library})
        for started in range(6):
            if attaches:
                self.need_agent(self.attach(run.pid, "--trigger", "sigtrap", "-d", 0.1))
                self.settle(run, 2 + started)
            run.stdin.write(b"\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"started\n")
        out, err = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, err)
        found = re.search(rb"caches (\d+)", out)
        return found and int(found[1])

    def test_their_caches_of_the_threads_of_an_attach_are_given_back(self):
        for name in LIBRARIES:
            with self.subTest(name):
                library = self.library(name)
                self.assertEqual(self.caches_of(library, attaches=True), self.caches_of(library, attaches=False))

    def test_a_server_goes_on(self):
        for name in LIBRARIES if live.IS_LONG else LIBRARIES[:2]:
            with self.subTest(name):
                command = ["env", f"LD_PRELOAD={self.library(name)}", self.need("/usr/bin/python3"),
                           self.write("server.py", live_attach.PYTHON_SERVER)]
                self.assert_cycles_harm_nothing(command)


if __name__ == "__main__":
    live.main()
