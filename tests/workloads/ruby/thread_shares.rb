# Three threads, each with a method of its own, and what each took by its own CPU clock.

require_relative "truth"

UNITS = 20_000

def work(units)
  units -= 1 while units > 0
end

def first_work(units)
  work(units)
end

def second_work(units)
  work(2 * units)
end

def third_work(units)
  work(3 * units)
end

turns = Truth.budget_ns(2000) / 4_000_000
workers = %i[first_work second_work third_work].map do |name|
  Thread.new do
    Thread.current.name = name.to_s
    start = Truth.thread_cpu_ns
    turns.times { |turn| __send__(name, Truth.vary(turn, UNITS / 2, UNITS)) }
    [name, Truth.thread_cpu_ns - start]
  end
end
workers.each do |worker|
  name, spent = worker.value
  Truth.add("total", "Object##{name}", spent)
  Truth.add("threads", name.to_s, spent)
end
Truth.show
