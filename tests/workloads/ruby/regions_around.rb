# frozen_string_literal: true

# Regions around what has stacks of its own: threads, fibers, children of fork; and behind recursion that
# is deeper than what is kept of a stack.  Prints {"calls": {method or region: how often}}.
require "fathom"

def work(i)
  i
end

def recurse(depth)
  depth.zero? ? 0 : 1 + recurse(depth - 1)
end

def in_thread
  Fathom.region("thread") { 3.times { |i| work(i) } }
end

def in_fiber
  Fathom.region("fiber") do
    work(1)
    Fiber.yield
    work(2)
  end
end

def beside
  work(3)
end

def alternate
  fibers = Array.new(2) { Fiber.new { in_fiber } }
  fibers.each(&:resume)
  beside
  fibers.each(&:resume)
end

def in_child
  Fathom.region("child") { work(4) }
end

def fork_within
  Fathom.region("around") do
    pid = fork do
      in_child
      exit!(0)
    end
    Process.wait(pid)
    work(5)
  end
end

# Deeper than there are entries for; what comes then has them again.
def deep(depth)
  recurse(depth)
  Fathom.region("behind") { work(6) }
end

DEPTH = 34_000
FIBER_DEPTH = 6_000
Array.new(2) { Thread.new { in_thread } }.each(&:join)
alternate
fork_within
deep(DEPTH)
Fiber.new { deep(FIBER_DEPTH) }.resume
calls = { "work" => 6 + 5 + 1 + 1 + 2, "recurse" => DEPTH + FIBER_DEPTH + 2, "[region thread]" => 2, "[region fiber]" => 2,
          "[region child]" => 1, "[region around]" => 1, "[region behind]" => 2 }
puts "{\"calls\": {#{calls.map { |name, count| "\"#{name}\": #{count}" }.join(", ")}}}"
