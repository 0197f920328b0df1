# How much of a loop its operators take, measured by loops that differ in nothing else.
#
# `c = a + b` is two reads, the operator and a write, `c = a; c = b` two reads and two writes.  The operator
# takes what the first is longer, and one write more; a read and a write together take at most half of the
# second.  Prints the least and the most that is of a loop's time.  (A processor that has to wait for a
# product of Floats does so while it writes, so that cannot be measured in this way.)

require_relative "truth"

TURNS = 3000
REPEATED = 20

def self.define(method, first, repeated)
  Object.class_eval(<<~SOURCE, __FILE__, 1000)
    def #{method}
      #{first}
      i = 0
      while i < TURNS
        #{([repeated] * REPEATED).join("; ")}
        i += 1
      end
    end
  SOURCE
end

define(:nothing, "a = 1; b = 2; c = nil", "")
define(:moves, "a = 1; b = 2; c = nil", "c = a; c = b")
CASES = [
  [:integer_minus, "a = 1; b = 2", "a - b", "Integer#-"],
  [:integer_equal, "a = 1; b = 2", "a == b", "Integer#=="],
  [:array_aref, "a = [1, 2, 3]; b = 2", "a[b]", "Array#[]"],
  [:hash_aref, "a = {1 => 2}; b = 1", "a[b]", "Hash#[]"],
  [:string_equal, "a = 'one'; b = 'two'", "a == b", "String#=="]
].freeze
CASES.each { |method, first, repeated, _| define(method, "#{first}; c = nil", "c = #{repeated}") }

def measure(method)
  start = Truth.thread_cpu_ns
  __send__(method)
  spent = Truth.thread_cpu_ns - start
  Truth.add("total", "Object##{method}", spent)
  SPENT[method] += spent
end

SPENT = Hash.new(0)

def main
  finish = Truth.process_cpu_ns + Truth.budget_ns(3000)
  rounds = 0
  while Truth.process_cpu_ns < finish
    rounds += 1
    measure(:nothing)
    measure(:moves)
    CASES.each { |method, _| measure(method) }
  end
  pair = (SPENT[:moves] - SPENT[:nothing]) / 2
  bounds = CASES.to_h do |method, _, _, operator|
    more = SPENT[method] - SPENT[:moves]
    ["Object##{method}", { "operator" => operator, "least" => more.fdiv(SPENT[method]),
                           "most" => (more + pair).fdiv(SPENT[method]) }]
  end
  Truth.show(bounds: bounds, rounds: rounds)
end

main
