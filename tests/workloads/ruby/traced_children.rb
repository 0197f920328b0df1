# Children of fork, born in methods and blocks, on other threads and in fibers; ways to end.  Prints
# {"calls": {method: calls of all processes}}.
require "json"
require "rbconfig"

def worked(i)
  i
end

def in_child(count)
  count.times { |i| worked(i) }
end

def start
  reader, writer = IO.pipe
  pid = fork do
    reader.close
    in_child(100)
    writer.write("x")
    exit!(0)
  end
  writer.close
  reader.read
  Process.wait(pid)
end

def start_in_fiber
  Fiber.new { before_fork }.resume
end

def before_fork
  pid = fork { in_child(10) }
  Process.wait(pid)
  after_fork
end

def after_fork
  worked(0)
end

def in_fiber
  worked(1)
  Fiber.yield
  worked(2)
end

# A fiber that was left before: both processes go on with it.
def child_resumes
  fiber = Fiber.new { in_fiber }
  fiber.resume
  pid = fork
  fiber.resume
  pid.nil? ? exit!(0) : Process.wait(pid)
end

def executes
  Process.wait(spawn(RbConfig.ruby, "-e", "def executed(i) i end\n5.times { |i| executed(i) }"))
end

def at_the_end
  worked(0)
end

at_exit { at_the_end if $$ == MAIN }
MAIN = $$
start
start_in_fiber
child_resumes
Thread.new { start }.join
executes
calls = { "worked" => 100 + 10 + 1 + 3 + 100 + 1, "in_fiber" => 1, "in_child" => 3, "start" => 2, "before_fork" => 1,
          "after_fork" => 1, "executed" => 5, "at_the_end" => 1 }
puts JSON.generate("calls" => calls)
$stdout.flush
exit
