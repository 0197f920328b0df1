# The same work by tiny methods and inlined by hand, in turns: tiny_methods.rb [TURNS [ROUNDS]]
#
# Tells how long the quickest round of each took, by the program's own clock.

require "json"

def twice(x)
  x + x
end

def tiny_methods(turns)
  total = i = 0
  while i < turns
    total ^= twice(i)
    i += 1
  end
  total
end

def inlined_methods(turns)
  total = i = 0
  while i < turns
    total ^= i + i
    i += 1
  end
  total
end

def square(x)
  x * x
end

def of_square(x)
  square(x) - x
end

def tiny_nested(turns)
  total = i = 0
  while i < turns
    total ^= of_square(i)
    i += 1
  end
  total
end

def inlined_nested(turns)
  total = i = 0
  while i < turns
    total ^= i * i - i
    i += 1
  end
  total
end

# An object with something in it.
class Place
  def initialize
    @x = 1
  end

  def moved(by)
    @x + by
  end

  def tiny_objects(turns)
    total = i = 0
    while i < turns
      total ^= moved(i)
      i += 1
    end
    total
  end

  def inlined_objects(turns)
    total = i = 0
    while i < turns
      total ^= @x + i
      i += 1
    end
    total
  end
end

PLACE = Place.new

def tiny_objects(turns)
  PLACE.tiny_objects(turns)
end

def inlined_objects(turns)
  PLACE.inlined_objects(turns)
end

def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

def tiny_recursion(turns)
  fib(12) + turns
end

def inlined_recursion(turns)
  total = i = 0
  while i < 466
    total ^= i < 2 ? i : i - 1 + i - 2
    i += 1
  end
  total + turns
end

# No call of a method, but from 3.1 on blocks are slower while methods are traced.
def tiny_blocks(turns)
  total = 0
  turns.times { |i| total ^= i + i }
  total
end

def inlined_blocks(turns)
  total = i = 0
  while i < turns
    total ^= i + i
    i += 1
  end
  total
end

# What follows calls one method in C, but for the loop itself.
def builtins(turns)
  text = "text"
  size = i = 0
  while i < turns
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    size = text.bytesize
    i += 1
  end
  size
end

# From 3.1 on these are calls, while methods in C are counted.
def operators(turns)
  sum = i = 0
  while i < turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    sum = turns + turns
    i += 1
  end
  sum
end

TEXT = "text" * 10_000

# As quick as the machine is: one call, of a method in C.
def pace(_turns)
  TEXT.count("a-w")
end

def measure(name, turns, best)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  __send__(name, turns)
  taken = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start
  best[name] = taken if best[name].nil? || taken < best[name]
end

turns = Integer(ARGV[0] || 1000)
rounds = Integer(ARGV[1] || 30)
names = %w[methods nested objects recursion blocks].flat_map { |pair| ["tiny_#{pair}", "inlined_#{pair}"] }
best = {}
rounds.times do
  ["pace", *names, "builtins", "operators"].each { |name| measure(name, turns, best) }
end
puts JSON.generate({ rounds: rounds, best: best })
