"""live_attach - tests of what record -p does to a program that runs: its recordings, and what it leaves behind."""

import http.client
import os
import re
import subprocess
import threading
import unittest

import live
import processes

# A thread for each request; it says how many it has answered.
PYTHON_SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = str(sum(i * i for i in range(500))).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
RUBY_SERVER = """
require "socket"
server = TCPServer.new("127.0.0.1", 0)
$stdout.sync = true
puts server.addr[1]
loop do
  Thread.new(server.accept) do |client|
    nil while (line = client.gets) && line != "\\r\\n"
    body = (1..500).sum { |i| i * i }.to_s
    client.write "HTTP/1.1 200 OK\\r\\nContent-Length: #{body.size}\\r\\nConnection: close\\r\\n\\r\\n#{body}"
  ensure
    client.close
  end
end
"""


def is_x86_64():
    return os.uname().machine == "x86_64"


@unittest.skipUnless(is_x86_64(), "agents are brought into processes on x86-64 only")
class AttachTest(live.LiveTest):
    def start(self, command, said="ready", **options):
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(processes.end_process, run)
        if said is not None:
            self.assertEqual(run.stdout.readline().decode().strip(), said)
        return run

    def python(self, program, *arguments, **options):
        return self.start([self.need("/usr/bin/python3"), self.write("program.py", program), *arguments], **options)

    def attach(self, pid, *words, expect=0):
        path = self.path("test.fathom")
        if os.path.exists(path):
            os.unlink(path)
        run = subprocess.run([live.FATHOM, "record", "-q", "-o", path, "-p", str(pid), *map(str, words)], capture_output=True,
                             timeout=120, cwd=self.folder)
        self.assertEqual(run.returncode, expect, run.stderr.decode(errors="replace"))
        return live.Recording(path, run)

    def need_agent(self, recording):
        """The machine may not allow what it takes: then the recording says why."""
        if recording.head()["trigger"] != "sigtrap":
            self.skipTest(f"no agent was brought in: {recording.head()['trigger_why']}, {recording.head()['notes']}")
        return recording

    def notes(self, recording):
        return " ".join(recording.head()["notes"])

    def facts(self, run):
        """What an attach could leave behind: descriptors, threads, agents that are mapped."""
        maps = processes.read_bytes(f"/proc/{run.pid}/maps").decode()
        return (len(os.listdir(f"/proc/{run.pid}/fd")), len(os.listdir(f"/proc/{run.pid}/task")),
                len(re.findall(r"r-xp .*(?:fathom-agent|libfathom)", maps)))

    def settle(self, run, threads=1):
        processes.wait_until(lambda: self.facts(run)[1] == threads, 300, "threads are left behind")


class ServerTest(AttachTest):
    def serve(self, command):
        """The program, which has said its port, and a client that counts what went wrong."""
        run = self.start(command, said=None)
        port = int(run.stdout.readline())
        state = {"answers": 0, "bad": [], "is_over": False}

        def ask():
            while not state["is_over"]:
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
                    connection.request("GET", "/")
                    answer = connection.getresponse()
                    if answer.status != 200 or not answer.read():
                        state["bad"].append(answer.status)
                    connection.close()
                    state["answers"] += 1
                except OSError as error:
                    state["bad"].append(repr(error))
        clients = [threading.Thread(target=ask) for _ in range(2)]
        for client in clients:
            client.start()

        def finish():
            state["is_over"] = True
            for client in clients:
                client.join()
        self.addCleanup(finish)
        state["finish"] = finish
        return run, state

    def assert_served(self, run, state, least=20):
        processes.wait_until(lambda: state["answers"] > least, 300, "it answers nothing")
        state["finish"]()
        self.assertIsNone(run.poll(), run.stderr)
        self.assertEqual(state["bad"], [])

    def assert_cycles_harm_nothing(self, command, cycles=12 if live.IS_LONG else 4):
        run, state = self.serve(command)
        self.need_agent(self.attach(run.pid, "-d", 0.1))
        for _ in range(cycles):
            before = state["answers"]
            self.need_agent(self.attach(run.pid, "-d", 0.1))
            processes.wait_until(lambda: state["answers"] > before, 300, "it answers nothing any more")
        self.assert_served(run, state)
        return run
