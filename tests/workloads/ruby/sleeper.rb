# A thread that sleeps, wakes up for a moment and sleeps again, while the main thread computes.

require_relative "truth"

def wait_for_work
  sleep 0.002 until $is_over
end

def compute(finish)
  turns = 0
  while Truth.process_cpu_ns < finish
    50.times { |number| turns += number }
  end
  turns
end

sleeper = Thread.new do
  Thread.current.name = "sleeper"
  wait_for_work
  Truth.add("total", "Object#wait_for_work", Truth.thread_cpu_ns)
  Truth.add("threads", "sleeper", Truth.thread_cpu_ns)
end
start = Truth.thread_cpu_ns
compute(Truth.process_cpu_ns + Truth.budget_ns(1000))
Truth.add("total", "Object#compute", Truth.thread_cpu_ns - start)
$is_over = true
sleeper.join
Truth.show
