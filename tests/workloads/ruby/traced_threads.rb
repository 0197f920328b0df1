# Threads, fibers and enumerators whose methods are called a known number of times.  Prints
# {"calls": {method: calls}, "threads": [calls of step() in each thread]}.
require "fiber"
require "json"

STEPS = 2000

def step(i)
  i
end

def run_thread
  STEPS.times { |i| step(i) }
end

def inner(i)
  between(i)
  Fiber.yield(i)
  between(i)
end

def between(i)
  i
end

def outer(count)
  count.times { |i| inner(i) }
  :done
end

def resume_all(fibers)
  loop do
    alive = fibers.select(&:alive?)
    break if alive.empty?

    alive.each { |fiber| resume_one(fiber) }
  end
end

def resume_one(fiber)
  fiber.resume
end

def generated(count)
  Enumerator.new { |out| count.times { |i| out << made(i) } }
end

def made(i)
  i * 2
end

def take(enumerator, count)
  count.times { enumerator.next }
end

def ends_by_itself
  sleep
ensure
  cleaned_up
end

def cleaned_up
  1
end

def thread_of_fibers
  fiber = Fiber.new { in_fiber_of_thread(2) }
  fiber.resume
  fiber.resume
end

def in_fiber_of_thread(count)
  count.times { Fiber.yield }
end

3.times.map { Thread.new { run_thread } }.each(&:join)
resume_all(Array.new(20) { Fiber.new { outer(50) } })
take(generated(500), 300)
# Left while they are being executed; more of them than are kept.
400.times { Fiber.new { outer(3) }.resume }
round = Array.new(400) { Fiber.new { outer(3) } }
4.times { round.each(&:resume) }
killed = Thread.new { ends_by_itself }
Thread.pass until killed.status == "sleep"
killed.kill.join
failed = Thread.new { Thread.current.report_on_exception = false; outer(-1); raise "no" }
begin
  failed.join
rescue RuntimeError
  step(0)
end
Thread.new { thread_of_fibers }.join

calls = {
  "run_thread" => 3, "step" => 3 * STEPS + 1,
  "outer" => 20 + 400 + 400 + 1, "inner" => 20 * 50 + 400 + 400 * 3,
  "between" => 2 * 20 * 50 + 400 + 2 * 400 * 3,
  "resume_all" => 1, "resume_one" => 20 * 51, "generated" => 1, "take" => 1, "made" => 300,
  "ends_by_itself" => 1, "cleaned_up" => 1, "thread_of_fibers" => 1, "in_fiber_of_thread" => 1
}
puts JSON.generate("calls" => calls, "threads" => [STEPS] * 3)
