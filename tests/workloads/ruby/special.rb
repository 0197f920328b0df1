# What Ruby executes without a frame of its own, each in a method of its own: operators, readers and writers
# of attributes, members of a Struct, Proc#call, and methods that newer versions inline.
#
# Prints, for each of these methods, what it must be seen to execute; a loop's own `<` and `+` come with it.

require_relative "truth"

class Thing
  attr_reader :width
  attr_writer :height
  attr_accessor :depth
end

Pair = Struct.new(:left, :right)

# The method, what it begins with, what it repeats, what that is.
CASES = [
  [:integer_plus, "a = 3; b = 4", "a + b", "Integer#+"],
  [:integer_minus, "a = 3; b = 4", "a - b", "Integer#-"],
  [:integer_times, "a = 3; b = 4", "a * b", "Integer#*"],
  [:integer_div, "a = 30; b = 4", "a / b", "Integer#/"],
  [:integer_mod, "a = 30; b = 4", "a % b", "Integer#%"],
  [:integer_equal, "a = 3; b = 4", "a == b", "Integer#=="],
  [:integer_less, "a = 3; b = 4", "a < b", "Integer#<"],
  [:integer_less_equal, "a = 3; b = 4", "a <= b", "Integer#<="],
  [:integer_greater, "a = 3; b = 4", "a > b", "Integer#>"],
  [:integer_greater_equal, "a = 3; b = 4", "a >= b", "Integer#>="],
  [:integer_and, "a = 3; b = 4", "a & b", "Integer#&"],
  [:integer_or, "a = 3; b = 4", "a | b", "Integer#|"],
  [:integer_succ, "a = 3", "a.succ", "Integer#succ"],
  [:float_plus, "a = 3.0; b = 4.0", "a + b", "Float#+"],
  [:float_minus, "a = 3.0; b = 4.0", "a - b", "Float#-"],
  [:float_times, "a = 3.0; b = 4.0", "a * b", "Float#*"],
  [:float_div, "a = 3.0; b = 4.0", "a / b", "Float#/"],
  [:float_less, "a = 3.0; b = 4.0", "a < b", "Float#<"],
  [:string_plus, "a = 'one'; b = 'two'", "a + b", "String#+"],
  [:string_equal, "a = 'one'; b = 'two'", "a == b", "String#=="],
  [:string_not_equal, "a = 'one'; b = 'two'", "a != b", %w[String#!= BasicObject#!=]],
  [:string_append, "a = +''; b = ''", "a << b", "String#<<"],
  [:string_length, "a = 'one'", "a.length", "String#length"],
  [:string_size, "a = 'one'", "a.size", "String#size"],
  [:string_empty, "a = 'one'", "a.empty?", "String#empty?"],
  [:string_succ, "a = 'one'", "a.succ", "String#succ"],
  [:string_match, "a = 'one two three four'", "a =~ /fo/", "String#=~"],
  [:regexp_match, "a = 'one two three four'; b = /fo/", "b =~ a", "Regexp#=~"],
  [:array_aref, "a = [1, 2, 3]; b = 1", "a[b]", "Array#[]"],
  [:array_aset, "a = [1, 2, 3]; b = 1", "a[b] = b", "Array#[]="],
  [:array_append, "a = []; b = 1", "a << b; a = [] if a.length > 999", "Array#<<"],
  [:array_length, "a = [1, 2, 3]", "a.length", "Array#length"],
  [:array_size, "a = [1, 2, 3]", "a.size", "Array#size"],
  [:array_empty, "a = [1, 2, 3]", "a.empty?", "Array#empty?"],
  [:array_plus, "a = [1]; b = [2]", "a + b", "Array#+"],
  [:hash_aref, "a = {1 => 2}; b = 1", "a[b]", "Hash#[]"],
  [:hash_aset, "a = {1 => 2}; b = 1", "a[b] = b", "Hash#[]="],
  [:hash_aref_text, "a = {'x' => 2}", "a['x']", "Hash#[]"],
  [:hash_aset_text, "a = {'x' => 2}", "a['x'] = 3", "Hash#[]="],
  [:hash_length, "a = {1 => 2}", "a.length", "Hash#length"],
  [:hash_empty, "a = {1 => 2}", "a.empty?", "Hash#empty?"],
  [:reader, "a = THING", "a.width", "Thing#width"],
  [:writer, "a = THING; b = 1", "a.height = b", "Thing#height="],
  [:accessor, "a = THING", "a.depth", "Thing#depth"],
  [:member, "a = PAIR", "a.left", "Pair#left"],
  [:member_writer, "a = PAIR; b = 1", "a.right = b", "Pair#right="],
  [:proc_call, "a = proc { nil }", "a.call", "Proc#call"],
  [:proc_yield, "a = proc { nil }", "a.()", "Proc#call"],
  [:integer_zero, "a = 3", "a.zero?", %w[Integer#zero? Numeric#zero?]],
  [:integer_abs, "a = 3", "a.abs", "Integer#abs"],
  [:integer_even, "a = 3", "a.even?", "Integer#even?"],
  [:kernel_class, "a = THING", "a.class", "Kernel#class"],
  [:kernel_frozen, "a = THING", "a.frozen?", "Kernel#frozen?"]
].freeze
# What comes with the loop, and what the lines above do besides.
COMES_WITH = %w[Integer#< Integer#+].freeze
ALSO = { array_append: %w[Array#length Integer#>], proc_call: ["block in Object#proc_call", "Kernel#proc"],
         proc_yield: ["block in Object#proc_yield", "Kernel#proc"], string_not_equal: %w[String#==] }.freeze

THING = Thing.new
PAIR = Pair.new(1, 2)

REPEATED = 10
CASES.each do |method, first, repeated, _|
  Object.class_eval(<<~SOURCE, __FILE__, 1000)
    def #{method}(turns)
      #{first}
      i = 0
      while i < turns
        #{([repeated] * REPEATED).join("; ")}
        i += 1
      end
    end
  SOURCE
end

def main
  each_ns = Truth.budget_ns(5000) / CASES.length
  CASES.each do |method, _|
    finish = Truth.thread_cpu_ns + each_ns
    __send__(method, 300) while Truth.thread_cpu_ns < finish
  end
  expected = CASES.to_h do |method, _, _, operator|
    ["Object##{method}", { "must" => [operator].flatten, "may" => COMES_WITH + ALSO.fetch(method, []) }]
  end
  Truth.show(expected: expected)
end

main
