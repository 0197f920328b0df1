# What Ruby counts of itself while the same work is done, as one line of JSON.

require "json"

class Counted
  def work(turns)
    turns.times { |number| step(number) }
  end

  def step(number)
    [number, number.to_s, { number => nil }].map(&:hash)
  end
end

def traced
  counts = Hash.new(0)
  trace = TracePoint.new(:call, :c_call, :b_call, :line) { |point| counts[point.event] += 1 }
  trace.enable { Counted.new.work(2000) }
  counts
end

GC.start
before = GC.stat
objects = ObjectSpace.count_objects
Counted.new.work((ARGV[0] || 100_000).to_i)
after = GC.stat
puts JSON.generate(
  "total" => after[:total_allocated_objects],
  "allocated" => after[:total_allocated_objects] - before[:total_allocated_objects],
  "collections" => after[:count] - before[:count],
  "data" => ObjectSpace.count_objects[:T_DATA] - objects[:T_DATA],
  "classes" => ObjectSpace.each_object(Module).count,
  "threads" => ObjectSpace.each_object(Thread).count,
  "traced" => traced,
  "symbols" => Symbol.all_symbols.length
)
