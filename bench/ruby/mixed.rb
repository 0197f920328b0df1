# Primes, strings put together, sorting by a key, recursion: the same work each turn.
#
#   mixed.rb TIMES-FILE [TURNS]
#
# Writes when it began and ended (CLOCK_MONOTONIC) and the CPU time between, all in nanoseconds.

require_relative "stamp"

def prime?(number)
  divisor = 2
  while divisor * divisor <= number
    return false if number % divisor == 0
    divisor += 1
  end
  number > 1
end

def count_primes(limit)
  (0...limit).count { |number| prime?(number) }
end

def append(count)
  text = ""
  count.times { |i| text = text + (i % 10).to_s }
  text.length
end

def sort_much(count)
  Array.new(count) { |n| [n, n * 7919] }.sort_by { |n, scaled| [scaled % 1009, n] }.first
end

def fibonacci(n)
  n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
end

def turn
  [count_primes(6000), append(3000), sort_much(8000), fibonacci(19)]
end

def main(turns)
  turns.times { check(turn, [783, 3000, [0, 0], 4181]) }
end

times_in(ARGV.fetch(0)) { main(Integer(ARGV.fetch(1, "120"))) }
