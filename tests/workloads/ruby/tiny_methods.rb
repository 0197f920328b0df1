# The same work by tiny methods and inlined by hand, in turns: tiny_methods.rb TURNS ROUNDS
#
# Prints how long each round of each took, by the program's own clock.  Each round waits for a byte on standard input, and
# reports its end by one on standard output.

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

# What follows calls one method in C, 20 times in each turn of its loop.
def builtins(turns)
  text = "text"
  size = i = 0
  loops = turns / 20
  while i < loops
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
  loops = turns / 20
  while i < loops
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

def chain(links)
  links.times.inject(nil) { |rest, _| [rest] }
end

LONG = chain(100)
SHORT = chain(20)

# As quick as the machine is: calls nothing, not even an operator.
def pace(_turns)
  outer = SHORT
  while outer
    inner = LONG
    inner, = inner while inner
    outer, = outer
  end
end

def measure(name, turns, took)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  __send__(name, turns)
  took[name] << Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start
end

turns, rounds = ARGV.map { |argument| Integer(argument) }
names = %w[methods nested objects recursion blocks].flat_map { |pair| ["tiny_#{pair}", "inlined_#{pair}"] }
names.push("pace", "builtins", "operators")
took = names.map { |name| [name, []] }.to_h
rounds.times do
  $stdin.sysread(1)
  # Another program was executed meanwhile: little of this one is in the caches.
  names.grep(/inlined/).each { |name| __send__(name, turns) }
  names.each { |name| measure(name, turns, took) }
  $stdout.syswrite(".")
end
puts JSON.generate({ rounds: rounds, took: took })
