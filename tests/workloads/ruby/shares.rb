# Three methods of one, two and five parts of the work, and one of three lines of which the same is true.
#
# Going through a chain of arrays by assigning several variables at once calls nothing: all of that time is
# the method's own.

require_relative "truth"

UNITS = 6000
CHAINS = [nil]
(5 * UNITS).times { CHAINS << [0, CHAINS[-1]] }

def one_part(units)
  rest = CHAINS[units]
  while rest
    _, rest = rest
  end
end

def two_parts(units)
  rest = CHAINS[2 * units]
  while rest
    _, rest = rest
  end
end

def five_parts(units)
  rest = CHAINS[5 * units]
  while rest
    _, rest = rest
  end
end

def three_lines(units)
  first = CHAINS[units]; second = CHAINS[2 * units]; third = CHAINS[3 * units]
  start = Truth.thread_cpu_ns
  while first; _, first = first; end
  after_first = Truth.thread_cpu_ns
  while second; _, second = second; end
  after_second = Truth.thread_cpu_ns
  while third; _, third = third; end
  finish = Truth.thread_cpu_ns
  line = __LINE__
  Truth.add("lines", line - 6, after_first - start)
  Truth.add("lines", line - 4, after_second - after_first)
  Truth.add("lines", line - 2, finish - after_second)
end

# Calls one of them: its total is what that takes.
def outer(units)
  two_parts(units)
end

def main
  finish = Truth.process_cpu_ns + Truth.budget_ns(2000)
  turn = 0
  while Truth.process_cpu_ns < finish
    turn += 1
    units = Truth.vary(turn, UNITS / 2, UNITS / 2)
    %i[one_part five_parts outer three_lines].each do |name|
      start = Truth.thread_cpu_ns
      __send__(name, units)
      spent = Truth.thread_cpu_ns - start
      Truth.add("total", "Object##{name}", spent)
      Truth.add("self", name == :outer ? "Object#two_parts" : "Object##{name}", spent) if name != :three_lines
    end
  end
  Truth.show
end

main
