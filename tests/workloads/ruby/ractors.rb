# Ractors that compute at once, each by a method of its own.  From Ruby 3.0 on.

Warning[:experimental] = false
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

TURNS = Truth.budget_ns(1500) / 2_000_000
ractors = %i[first_work second_work].map do |name|
  Ractor.new(name, name: name.to_s) do |method|
    start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
    TURNS.times { |turn| __send__(method, UNITS / 2 + (turn * 2654435761 >> 7) % UNITS) }
    [method, Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - start]
  end
end
ractors.each do |ractor|
  name, spent = ractor.respond_to?(:take) ? ractor.take : ractor.value
  Truth.add("total", "Object##{name}", spent)
end
Truth.show
