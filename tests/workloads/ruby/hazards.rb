# Everything at once that moves, frees or switches what a walk reads, for some seconds: compaction at every
# collection, environments that escape, fibers, threads, exceptions, methods that are redefined, children of
# fork.  Prints a sum that does not depend on what looks.

require "fiber"
require_relative "truth"

def escape(number)
  held = number
  adder = proc { |more| held += more }
  adder.call(1)
  adder
end

def throw_through(number)
  catch(:done) do
    [number].each { |item| throw :done, item if item }
  end
end

def raise_through(number)
  Integer("no number #{number}")
rescue ArgumentError => error
  error.message.length
end

def switch(number)
  fiber = Fiber.new { Fiber.yield(number); number + 1 }
  fiber.resume + fiber.resume
end

def redefine(number)
  Object.class_eval("def redefined; #{number % 7}; end", "redefined.rb", number % 100 + 1)
  redefined
end

def bind(number)
  made = binding
  made.local_variable_set(:other, number)
  made.eval("other + 1")
end

def garbage(number)
  Array.new(20) { |item| "text #{item} #{number}" }.map(&:to_sym).length
end

def one_turn(number)
  escape(number).call(2) + throw_through(number) + raise_through(number % 10) + switch(number) +
    bind(number) + garbage(number % 50)
end

def turns(count)
  (1..count).sum { |number| one_turn(number) }
end

GC.auto_compact = true if GC.respond_to?(:auto_compact=)
count = (ARGV[0] || 1000).to_i
threads = Array.new(3) { Thread.new { turns(count) } }
children = Array.new(2) do |child|
  IO.popen("-") do |pipe|
    pipe ? pipe.read.to_i : print(turns(count / 4 + child))
  end
end
sum = (1..count / 4).sum { |number| redefine(number) }
sum += threads.sum(&:value) + children.sum
puts sum
