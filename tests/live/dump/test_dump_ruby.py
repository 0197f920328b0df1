"""Ruby's stacks from outside: a server that waits for connections, a mutex, a sleeper."""

import live
import live_dump
import live_ruby
from live_dump import is_resting

PROGRAM = """\
require "socket"

class Server
  def initialize
    @socket = TCPServer.new("127.0.0.1", 0)
  end

  def serve(depth)
    return serve(depth - 1) if depth > 0
    @socket.accept
  end
end

class Sleeper
  def each_thing
    [1, 2].each { |thing| yield thing }
  end

  def rest
    each_thing { |thing| sleep 1000 }
  end
end

mutex = Mutex.new
mutex.lock
Thread.new { Server.new.serve(3) }
Thread.new { Sleeper.new.rest }.name = "a sleeper with a long name"
Thread.new { mutex.lock }
puts "ready"
STDOUT.flush
STDIN.read
"""
BUSY = """
def computes
  loop { (1..2000).sum { |i| i * i } }
end
4.times { Thread.new { computes } }
$stdout.sync = true
puts "ready"
sleep
"""
STACKS = {
    "accept": [("serve", 10)] + 3 * [("serve", 9)] + [("<main>", 26)],
    "sleep": [("rest", 20), ("each_thing", 16), ("each", None), ("each_thing", 16), ("rest", 20), ("<main>", 27)],
    "lock": [("<main>", 28)],
    "read": [("<main>", 31)],
}


def plain(name):
    """serve of Server#serve, block in <main> is <main>; 3.4 has the class in labels, too."""
    return name.removeprefix("block in ").replace(".", "#").rpartition("#")[2]


class Ruby(live_ruby.RubyTest, live_dump.DumpTest):
    def stack(self, thread):
        frames = [(plain(frame["name"]), frame["line"]) for frame in thread["frames"]
                  if frame["language"] == "ruby"]
        # What is in C in one version may be in Ruby in another.
        return frames[0][0], [frame for frame in frames[1:] if frame[1] is not None or frame[0] == "each"]

    def assert_stacks_are_there(self, ruby):
        program = self.write("server.rb", PROGRAM)
        run = self.start(ruby.command(program))
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and len(
            [thread for thread in dump["threads"] if any(
                frame["language"] == "ruby" for frame in thread["frames"])]) == 4, "its threads do not come to rest")
        found = dict(self.stack(thread) for thread in dump["threads"]
                     if any(frame["language"] == "ruby" for frame in thread["frames"]))
        self.assertEqual(found, STACKS)
        for thread in dump["threads"]:
            self.assertEqual(thread["ending"], "complete", thread)
            self.assertFalse(thread["holds_gvl"], thread)
        self.assertIn("a sleeper with a long name", [thread["name"] for thread in dump["threads"]])

    def assert_holder_runs(self, ruby):
        """One of four that compute; between two of them there is none."""
        run = self.start(ruby.command(self.write("busy.rb", BUSY)))
        holders = []
        for _ in range(12):
            dump = self.dump(run.pid)
            holders += [thread for thread in dump["threads"] if thread["holds_gvl"]]
            self.assertTrue(dump["process"]["gvl_is_verified"])
        computing = [thread for thread in holders if any(frame["name"].endswith("computes") for frame in thread["frames"])]
        self.assertGreater(len(computing), 4, holders)

    def test_a_thread_that_computes_holds_the_gvl(self):
        self.on_each_ruby(self.assert_holder_runs)

    def test_a_server_that_waits_a_sleeper_and_a_mutex(self):
        self.on_each_ruby(self.assert_stacks_are_there, in_ci=live_ruby.EACH_WAY)


if __name__ == "__main__":
    live.main()
