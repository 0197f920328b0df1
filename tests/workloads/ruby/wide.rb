# One caller of many different methods, each called in turn, and then in another order: wide.rb METHODS ROUNDS STEP
#
# The step and the number of methods have no common divisor.

# Methods to be called by numbers.
class Wide
  def dispatch(names, rounds, step)
    count = names.size
    turn = 0
    while turn < rounds * count
      send(names[turn % count])
      turn += 1
    end
    turn = 0
    while turn < rounds * count
      send(names[turn * step % count])
      turn += 1
    end
  end
end

count, rounds, step = ARGV.map(&:to_i)
names = Array.new(count) { |number| :"f#{number}" }
Wide.class_eval(names.map { |name| "def #{name}; end" }.join("\n"), __FILE__, 1)
Wide.new.dispatch(names, rounds, step)
