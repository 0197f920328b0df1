"""Ruby programs of many kinds: their names, lines and processes, and real programs."""

import collections
import os
import signal
import socket
import subprocess
import textwrap
import time
import urllib.request

import live
import live_ruby
from processes import end_process, wait_until

# Each method lives for two milliseconds; the clocks of the recording and the program are set to one another.
CLOCKS_DIFFER_NS = 1000000
LEAST_MADE = 3000
REQUESTS = 60

# Never a collection, until which names are kept.
NAMED_LATER = """
GC.disable
nameless = Class.new { def burn; turns = 0; turns += 1 while turns < 1_000_000; end }
nameless.new.burn
Named = nameless
5.times { Named.new.burn }
"""


class Names(live_ruby.RubyTest):
    compares_times = True

    def test_code_of_every_kind_has_the_name_that_ruby_3_4_gives_it(self):
        self.on_each_ruby(self.assert_names, in_ci=live_ruby.EACH_WAY)

    def assert_names(self, ruby):
        recording = self.record_ruby(ruby, self.workload("names.rb"), 20, env={**os.environ, "LC_ALL": "C.UTF-8"})
        stacks = live_ruby.RubyStacks(recording)
        expected = {tuple(names) for names in recording.truth["above_burn"]}
        seen, others = set(), collections.Counter()
        for stack, count in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            names = [name for name in stacks.names(stack) if not live_ruby.is_collection(name)]
            if "Object#burn" not in names:
                continue
            above = names[names.index("Object#burn") + 1:]
            above = tuple(above[:above.index("Object#main")] if "Object#main" in above else above)
            if above in expected:
                seen.add(above)
            else:
                others[above] += count
        self.assertEqual((dict(others), expected - seen), ({}, set()))

    def test_methods_have_the_name_of_their_class_from_when_it_has_one(self):
        def check(ruby):
            recording = self.record_ruby(ruby, "--disable=gems", "-e", NAMED_LATER)
            before, named = (recording.time_of(name, "total_ns") for name in ("burn", "Named#burn"))
            # A sixth of the turns, and five.
            self.assertGreater(before, 0)
            self.assertGreater(named, 3 * before)
        self.on_each_ruby(check)

    def test_a_method_where_another_one_was_never_has_its_name(self):
        self.on_each_ruby(self.assert_lives)

    def assert_lives(self, ruby):
        recording = self.record_ruby(ruby, self.workload("made.rb"), 2000)
        lives, stacks = recording.truth["lives"], live_ruby.RubyStacks(recording)
        start_ns = recording.head()["start_unix_ns"] - (time.time_ns() - time.monotonic_ns())
        right = without_line = 0
        for time_ns, _, stack, _ in recording.samples():
            for frame in stacks.walk(stack):
                if frame.qualified_name not in lives:
                    continue
                begin, end = lives[frame.qualified_name]
                self.assertTrue(begin - CLOCKS_DIFFER_NS <= start_ns + time_ns <= end + CLOCKS_DIFFER_NS,
                                f"{frame} lived from {begin} to {end}, not at {start_ns + time_ns}")
                number = int(frame.qualified_name.rpartition("_")[2])
                # The source begins with a line for each number.
                first = number % 5000 + 2
                self.assertEqual((frame.path, frame.first_line), (f"<made {number}>", first))
                self.assertIn(frame.line, (0, *range(first, first + 5)))
                right += 1
                without_line += frame.line == 0
        self.assertGreater(right, LEAST_MADE)
        self.assertLess(without_line, 0.01 * right)


class Processes(live_ruby.RubyTest):
    compares_times = True

    def assert_way(self, ruby, way):
        recording = self.record_ruby(ruby, self.workload("processes.rb"), way, rate=4000)
        self.assert_adds_up(recording)
        for name, spent_ns in recording.truth.items():
            seen_ns = self.time_of_rows(recording, f"Object#{name}", "total_ns")
            jumped_ns = recording.jumped_share() * recording.total_ns()
            self.assertLess(abs(seen_ns - spent_ns), 0.05 * spent_ns + jumped_ns, f"{way}: {name}: {seen_ns} of {spent_ns}")

    def assert_all(self, way):
        self.on_each_ruby(lambda ruby: self.assert_way(ruby, way))

    def test_forked(self):
        self.assert_all("fork")

    def test_spawned(self):
        self.assert_all("spawn")

    def test_in_backticks(self):
        self.assert_all("backticks")

    def test_of_system(self):
        self.assert_all("system")

    def test_of_popen(self):
        self.assert_all("popen")

    def test_that_execute_another(self):
        self.assert_all("exec")

    def test_of_a_prefork_server(self):
        self.assert_all("prefork")

    def test_of_two_hundred_threads_one_of_which_forks(self):
        self.assert_all("threads")

    def test_what_a_child_calls_has_its_name_however_often_its_parent_collected(self):
        path = self.path("program.rb")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""
                def work(n)
                  (1..n).sum { |i| i.to_s.size }
                end
                30.times { GC.start; work(2000) }
                20.times { Process.wait(fork { GC.start; work(4000); exit!(0) }) }
                """))
        recording = self.record(self.any_ruby(path), rate=10000)
        names = {row[0] for row in recording.rows("SELECT coalesce(qualified_name, name) FROM codes")}
        self.assertIn("Object#work", names)
        self.assertNotIn("[unknown Ruby method]", names)


BURN = textwrap.dedent("""
    def burn(turns)
      turns -= 1 while turns > 0
    end
    burn(40_000_000)
    """)


class Starts(live_ruby.RubyTest):
    """However a program is started."""

    compares_times = True

    def assert_burn(self, recording, file):
        row = next(row for row in self.rows_of_language(recording) if row["name"] == "Object#burn")
        self.assertGreater(row["total_ns"], 0.5 * recording.total_ns())
        self.assertEqual((row["file"], row["line"]), (file, 2))

    def test_from_the_command_line(self):
        self.assert_burn(self.record(self.any_ruby("-e", BURN)), "-e")

    def test_from_standard_input(self):
        self.write("program.rb", BURN)
        self.assert_burn(self.record(["sh", "-c", f"exec {' '.join(self.any_ruby())} < program.rb"]), "-")

    def test_with_gems_and_without(self):
        self.write("program.rb", BURN)
        for options in ([], ["--disable=gems"]):
            self.assert_burn(self.record(self.any_ruby(*options, self.path("program.rb"))), self.path("program.rb"))

    def test_by_its_first_line(self):
        path = self.write("program", f"#!{' '.join(self.any_ruby())}\n" + BURN.lstrip())
        os.chmod(path, 0o755)
        self.assert_burn(self.record([path]), path)


class Collections(live_ruby.RubyTest):

    def test_what_the_agent_does_at_their_beginning_is_not_blamed_on_slow_walks(self):
        path = self.path("program.rb")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""
                def down(n)
                  return down(n - 1) + 0 if n > 0
                  400.times { GC.start(full_mark: false) }
                  0
                end
                down(300)
                """))
        recording = self.record(self.any_ruby(path), rate=4000)
        self.assertNotIn("not walked", str(recording.rows("SELECT text FROM notes")))


class Lines(live_ruby.RubyTest):
    compares_times = True

    def test_an_annotated_listing_has_the_source_and_the_time_of_its_lines(self):
        recording = self.record(self.any_ruby(self.workload("shares.rb"), 1000))
        text = subprocess.run([live.FATHOM, "report", recording.path, "--lines", "Object#three_lines"],
                              capture_output=True, check=True).stdout.decode()
        for line in ("while first; _, first = first; end", "while third; _, third = third; end"):
            self.assertIn(line, text)

    def test_a_call_over_several_lines_is_at_the_line_that_calls(self):
        with open(self.path("program.rb"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""\
                def burn(n)
                  n -= 1 while n > 0
                end


                def several(n)
                  [
                    burn(n),
                    burn(
                      2 * n
                    )
                  ]
                end


                300.times { several(20_000) }
                """))
        self.on_each_ruby(self.assert_lines)

    def assert_lines(self, ruby):
        recording = self.record_ruby(ruby, self.path("program.rb"), rate=10_000)
        stacks, at = live_ruby.RubyStacks(recording), collections.Counter()
        for stack, samples in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            frames = list(stacks.walk(stack))
            if frames and frames[0].qualified_name == "Object#burn":
                self.assertEqual(frames[1].qualified_name, "Object#several")
                at[frames[1].line] += samples
        self.assertEqual(set(at), {8, 9})
        self.assertLess(abs(at[9] / at[8] - 2), 0.3)


class Real(live_ruby.RubyTest):
    """Programs that others wrote: whole stacks, and the methods that everybody knows they run."""

    compares_times = True

    def assert_runs(self, recording, *names, least=0.99, share=0.003):
        self.assert_adds_up(recording)
        self.assert_whole_ruby_stacks(recording, least)
        seen = {row["name"]: row["total_ns"] for row in self.rows_of_language(recording)}
        for name in names:
            self.assertGreater(seen.get(name, 0), share * recording.total_ns(), f"{name} of {sorted(seen)[:60]}")

    def script(self, text, *libraries):
        for library in libraries:
            if subprocess.run(self.any_ruby("-e", f"require '{library}'"), capture_output=True).returncode != 0:
                self.skipTest(f"Debian's ruby has no {library}")
        path = self.path("program.rb")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return self.record(self.any_ruby(path))

    def test_json_and_erb(self):
        self.assert_runs(self.script("""
            require "json"
            require "erb"
            rows = Array.new(2000) { |n| { "name" => n.to_s, "values" => (1..n % 50).to_a } }
            5.times { JSON.parse(JSON.pretty_generate(rows)) }
            template = ERB.new("<% rows.each do |row| %><li><%= row['name'] %>: <%= row['values'].sum %></li><% end %>")
            40.times { template.result_with_hash(rows: rows) }
            """, "json", "erb"), "JSON.pretty_generate", "ERB#result_with_hash", "Array#sum")

    def test_optparse_and_strings(self):
        self.assert_runs(self.script("""
            require "optparse"
            def parse
              OptionParser.new do |options|
                options.on("-v", "--[no-]verbose") {}
                options.on("-n", "--number N", Integer) {}
              end.parse(%w[-v --number 12 rest])
            end
            1500.times { parse }
            """, "optparse"), "Object#parse", "OptionParser#initialize", "OptionParser#parse")

    def test_rake(self):
        rake = self.need("rake")
        with open(self.path("Rakefile"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""
                def work(n)
                  (1..n).sum { |i| i.to_s.reverse.to_i }
                end
                names = (1..6).map { |n| "part#{n}" }
                names.each { |name| task(name) { work(60_000) } }
                multitask all: names
                task default: :all
                """))
        self.assert_runs(self.record([rake, "-q"]), "Object#work", "Integer#to_s", "String#reverse")

    def test_irb(self):
        irb = self.need("irb")
        with open(self.path("typed"), "w", encoding="utf-8") as file:
            file.write("def work(n); (1..n).map { |i| i * i }.sum; end\n" + "work(400_000)\n" * 4)
        recording = self.record(["sh", "-c", f"{irb} -f --noecho --noprompt < typed"])
        self.assert_runs(recording, "Object#work", "Enumerable#map")

    def test_webrick_serving_requests(self):
        self.assert_runs(self.script("""
            require "webrick"
            require "net/http"
            class Hello < WEBrick::HTTPServlet::AbstractServlet
              def do_GET(_request, response)
                response.body = (1..4000).map { |i| "<b>#{i}</b>" }.join
              end
            end
            server = WEBrick::HTTPServer.new(Port: 0, BindAddress: "127.0.0.1", AccessLog: [],
                                             Logger: WEBrick::Log.new(File::NULL))
            server.mount("/", Hello)
            thread = Thread.new { server.start }
            150.times { Net::HTTP.get("127.0.0.1", "/", server.listeners[0].addr[1]) }
            server.shutdown
            thread.join
            """, "webrick"), "Hello#do_GET", "Enumerable#map", "Net::HTTP.get", least=0.98)

    def test_a_suite_of_tests(self):
        self.assert_runs(self.script("""
            require "minitest/autorun"
            class Numbers < Minitest::Test
              40.times do |n|
                define_method("test_#{n}") { assert_equal fib(16), fib(15) + fib(14) }
              end
              def fib(n)
                n < 2 ? n : fib(n - 1) + fib(n - 2)
              end
            end
            """, "minitest"), "Numbers#fib", "Minitest.run")


APP = """
class App
  def call(env)
    [200, { "content-type" => "text/html" }, [render(8000)]]
  end

  def render(n)
    (1..n).map { |i| "<b>#{i}</b>" }.join
  end
end
"""


class Servers(live_ruby.RubyTest):
    """Servers that fork their workers, while they answer requests."""

    compares_times = True

    def serve(self, command):
        """Records the server and ends it as its user would."""
        for name, text in (("app.rb", APP), ("config.ru", "require_relative 'app'\nrun App.new\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        path = self.path("test.fathom")
        run = subprocess.Popen([live.FATHOM, "record", "-q", "--rate", "2000", "-o", path, "--", *command],
                               cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**os.environ, "RACK_ENV": "production"})
        self.addCleanup(end_process, run)
        wait_until(self.answers, 300, "the server does not answer")
        for _ in range(REQUESTS):
            self.answers()
        with open(self.path("pid"), encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGTERM)
        run.wait(timeout=300)
        return live.Recording(path, run)

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=300) as answer:
                return len(answer.read()) > 8000 * 8
        except OSError:
            return False

    def assert_served(self, recording):
        self.assert_adds_up(recording)
        self.assert_whole_ruby_stacks(recording)
        render_ns = self.time_of_rows(recording, "App#render", "total_ns")
        self.assertGreater(render_ns, 0.02 * recording.total_ns())
        # Two workers and what they were forked from.
        self.assertGreaterEqual(len(recording.report("--by", "process")["processes"]), 3)

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def test_puma(self):
        puma = self.need("puma")
        self.assert_served(self.serve([puma, "-q", "-w", "2", "-t", "1:2", "-b", f"tcp://127.0.0.1:{self.port}",
                                       "--pidfile", self.path("pid"), "config.ru"]))

    def test_unicorn(self):
        unicorn = self.need("unicorn")
        with open(self.path("unicorn.conf"), "w", encoding="utf-8") as file:
            file.write(f"worker_processes 2\npid '{self.path('pid')}'\npreload_app true\n")
        self.assert_served(self.serve([unicorn, "-l", f"127.0.0.1:{self.port}", "-c", "unicorn.conf", "config.ru"]))


if __name__ == "__main__":
    live.main()
