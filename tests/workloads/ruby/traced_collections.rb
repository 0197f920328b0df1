# Methods that are called while objects, and what was compiled, are moved and freed and others made at their addresses.
# Prints {"calls": {method: calls}}.
require "fiber"
require "json"

def leaf(i)
  i.to_s
end

def outer(count)
  count.times do |i|
    leaf(i)
    Fiber.yield if i % 10 == 9
  end
end

GC.auto_compact = true if GC.respond_to?(:auto_compact=)
fibers = Array.new(30) { Fiber.new { outer(100) } }
10.times do
  fibers.each(&:resume)
  GC.start
  begin
    GC.compact if GC.respond_to?(:compact)
  rescue NotImplementedError
    GC.start
  end
end
300.times do |i|
  Class.new { define_method(:made) { leaf(i) } }.new.made
  GC.start if i % 50 == 0
end
200.times { |i| eval("def evaluated_#{i % 3}(x)\n  leaf(x)\nend\nevaluated_#{i % 3}(#{i})") }
GC.stress = true
20.times { |i| leaf(i) }
GC.stress = false
calls = { "outer" => 30, "leaf" => 30 * 100 + 300 + 200 + 20, "evaluated_0" => 67, "evaluated_1" => 67, "evaluated_2" => 66 }
puts JSON.generate("calls" => calls)
