# Fibers of several depths that take turns, an enumerator that is asked for one item after the other, and a
# generator within a fiber: what stands above Object#burn, each way.

require "fiber" # Fiber#alive? up to 3.0
require_relative "truth"

def burn(turns)
  turns -= 1 while turns > 0
end

def work(depth, rounds)
  return work(depth - 1, rounds) if depth > 0

  rounds.times do
    burn(4000)
    Fiber.yield
  end
end

def shallow(rounds)
  work(2, rounds)
end

def deep(rounds)
  work(9, rounds)
end

def through_c(rounds)
  [1].each { |depth| work(depth, rounds) }
end

def take_turns(rounds)
  fibers = %i[shallow deep through_c].map { |name| Fiber.new { __send__(name, rounds) } }
  fibers.each { |fiber| fiber.resume if fiber.alive? } while fibers.any?(&:alive?)
end

def enumerate(rounds)
  items = Enumerator.new do |yielder|
    rounds.times do |number|
      burn(4000)
      yielder << number
    end
  end
  rounds.times { items.next }
end

def main
  rounds = Truth.budget_ns(1000) / 1_000_000
  take_turns(rounds)
  enumerate(rounds)
  in_fiber = "block (2 levels) in Object#take_turns"
  times = ["block in Object#work", "Integer#times"]
  # Innermost first, up to where the fiber begins.
  Truth.show(above_burn: [
    [*times, *["Object#work"] * 3, "Object#shallow", in_fiber],
    [*times, *["Object#work"] * 10, "Object#deep", in_fiber],
    [*times, *["Object#work"] * 2, "block in Object#through_c", "Array#each", "Object#through_c", in_fiber],
    ["block (2 levels) in Object#enumerate", "Integer#times", "block in Object#enumerate"]
  ])
end

main
