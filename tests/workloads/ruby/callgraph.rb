# Calls of every kind, all the time, and which may call which: each method has one caller.
#
#     callgraph.rb MILLISECONDS [THREADS] [compact | LIBRARY]
#
# LIBRARY is unwalkable.c's: then there are calls through code that no native walk can leave, too.
#
# What it prints has the chains of frames that there may be, outermost first.  Between two pieces of Ruby
# code there stand exactly these methods written in C; (in parentheses) what is executed without a frame,
# and therefore only seen as long as it calls nothing; `*` is anything written in C.  Behind a colon are the
# operators that a piece of code executes itself.

require "fiber" # Fiber#alive? up to 3.0
require_relative "truth"

# --- plain calls, and blocks -----------------------------------------------------------------

def plain_outer(n)
  plain_middle(n) + 1
end

def plain_middle(n)
  plain_inner(n) + plain_inner(n)
end

def plain_inner(n)
  plain_leaf(n)
end

def plain_leaf(n)
  n * 3 - 1
end

def empty_caller(n)
  while n > 0
    empty
    n -= 1
  end
end

def empty; end

def each_caller(items)
  items.each { |item| each_item(item) }
end

def each_item(item)
  item & 1
end

def map_caller(items)
  items.map { |item| map_item(item) }
end

def map_item(item)
  map_item_inner(item)
end

def map_item_inner(item)
  item | 1
end

def times_caller(n)
  n.times { |item| times_item(item) }
end

def times_item(item)
  item
end

def range_caller(n)
  (1..n).each { |item| range_item(item) }
end

def range_item(item)
  item
end

def nested_caller(items)
  items.each do |item|
    3.times { nested_item(item) }
  end
end

def nested_item(item)
  [item].map { |one| nested_inner(one) }
end

def nested_inner(item)
  item
end

def sort_by_caller(items)
  items.sort_by { |item| sort_by_key(item) }
end

def sort_by_key(item)
  sort_by_inner(item)
end

def sort_by_inner(item)
  -item
end

def sort_caller(items)
  items.sort { |left, right| sort_compare(left, right) }
end

def sort_compare(left, right)
  right <=> left
end

def inject_caller(items)
  items.inject { |left, right| inject_step(left, right) }
end

def inject_step(left, right)
  left | right
end

def gsub_caller
  "one two three four".gsub(/[a-z]+/) { |word| gsub_replace(word) }
end

def gsub_replace(word)
  word.upcase
end

def hash_each_caller
  PAIRS.each { |key, value| hash_each_item(key, value) }
end

def hash_each_item(key, value)
  key * value
end

def default_caller(n)
  made = Hash.new { |_, key| default_inner(key) }
  made[n]
end

def default_inner(key)
  key
end

def yield_caller(n)
  yielding(n) { |item| yield_item(item) }
end

def yielding(n)
  yield n
  yield n
end

def yield_item(item)
  item
end

def proc_caller(n)
  work = proc { |item| proc_inner(item) }
  work.call(n)
end

def proc_inner(item)
  item
end

def lambda_caller(n)
  ->(item) { lambda_inner(item) }.call(n)
end

def lambda_inner(item)
  item
end

def loop_caller(n)
  loop do
    n -= 1
    break unless loop_inner(n)
  end
end

def loop_inner(n)
  n > 0
end

def tap_caller(n)
  n.tap { |item| tap_inner(item) }
end

def tap_inner(item)
  item
end

def synchronize_caller(n)
  Mutex.new.synchronize { synchronize_inner(n) }
end

def synchronize_inner(n)
  n
end

# --- methods by other ways than their names --------------------------------------------------

def public_send_caller(n)
  SENDER.public_send(:sent, n)
end

def send_caller(n)
  SENDER.send(:sent_privately, n)
end

class Sender
  def sent(n)
    sent_inner(n)
  end

  def sent_inner(n)
    n
  end

  private

  def sent_privately(n)
    sent_privately_inner(n)
  end

  def sent_privately_inner(n)
    n
  end
end

SENDER = Sender.new

def method_caller(n)
  called = method(:method_called)
  called.call(n)
end

def method_called(n)
  method_inner(n)
end

def method_inner(n)
  n
end

def symbol_caller(vector)
  [vector, vector].map(&:doubled)
end

def evaluated_caller(n)
  SENDER.instance_eval { n }
  eval("evaluated_inner(1)", nil, __FILE__, 1)
end

def evaluated_inner(n)
  n
end

# --- methods that Ruby calls -----------------------------------------------------------------

class Vector
  include Comparable
  include Enumerable

  attr_reader :x

  def initialize(x)
    @x = initialize_inner(x)
  end

  def initialize_inner(x)
    x
  end

  def +(other)
    add_inner(other)
  end

  def add_inner(other)
    x + other.x
  end

  def ==(other)
    equal_inner(other)
  end

  def equal_inner(other)
    equal?(other)
  end

  def hash
    hash_inner
  end

  def hash_inner
    7
  end

  def eql?(other)
    eql_inner(other)
  end

  def eql_inner(_other)
    true
  end

  def <=>(other)
    compare_inner(other)
  end

  def compare_inner(other)
    x - other.x
  end

  def coerce(other)
    coerce_inner(other)
  end

  def coerce_inner(other)
    [Vector.new(other), self]
  end

  def each
    yield each_inner
  end

  def each_inner
    x
  end

  def to_s
    to_s_inner
  end

  def to_s_inner
    "vector"
  end

  def doubled
    doubled_inner
  end

  def doubled_inner
    x * 2
  end

  def method_missing(name, *arguments)
    missing_inner(name)
  end

  def missing_inner(name)
    name
  end

  def respond_to_missing?(_name, _all)
    true
  end

  define_method(:defined) { defined_inner }

  def defined_inner
    x
  end

  def self.const_missing(name)
    const_inner(name)
  end

  def self.const_inner(name)
    name
  end

  def lower
    lower_inner
  end

  def lower_inner
    x
  end
end

class Derived < Vector
  def lower
    super
  end
end

def new_caller(n)
  Vector.new(n)
end

def add_caller(vector)
  vector + vector
end

def equal_caller(vector)
  both = [1, vector]
  both.include?(vector.itself)
end

def hash_caller(vector)
  made = {}
  made[vector] = 1
  made[OTHER_VECTOR]
end

def compare_caller(vector)
  vector < OTHER_VECTOR
end

def coerce_caller(vector)
  1 + vector
end

def enumerable_caller(vector)
  vector.map { |item| enumerable_item(item) }
end

def enumerable_item(item)
  item
end

def to_s_caller(vector)
  "#{vector}"
end

def missing_caller(vector)
  vector.unheard_of
end

def defined_caller(vector)
  vector.defined
end

def const_caller
  Vector::Unheard
end

def super_caller
  DERIVED.lower
end

OTHER_VECTOR = Vector.new(3)
DERIVED = Derived.new(4)
PAIRS = { 1 => 2, 3 => 4 }.freeze

# --- what leaves methods otherwise than by their ends ----------------------------------------

class Wrong < StandardError; end

def raise_caller(n)
  while n > 0
    n -= 1
    begin
      raise_middle(n)
    rescue Wrong
      raise_handler(n)
    end
  end
end

def raise_middle(n)
  raise_inner(n)
ensure
  raise_ensure(n)
end

def raise_inner(n)
  raise Wrong
end

def raise_ensure(n)
  n
end

def raise_handler(n)
  n
end

def raise_c_caller
  Integer("no number")
rescue ArgumentError
  raise_c_handler
end

def raise_c_handler
  1
end

def catch_caller(n)
  catch(:done) { catch_inner(n) }
end

def catch_inner(n)
  [n].each { |item| catch_thrower(item) }
end

def catch_thrower(item)
  throw :done, item
end

def break_caller(items)
  items.each do |item|
    break if break_inner(item)
  end
end

def break_inner(item)
  item
end

def return_caller(items)
  items.each { |item| return return_inner(item) }
end

def return_inner(item)
  item
end

# --- stacks of their own ---------------------------------------------------------------------

def fiber_caller(n)
  fiber = Fiber.new do
    fiber_outer(n)
  end
  fiber.resume while fiber.alive?
end

def fiber_outer(n)
  3.times { fiber_inner(n) }
end

def fiber_inner(n)
  fiber_leaf(n)
  Fiber.yield(n)
end

def fiber_leaf(n)
  n
end

def next_caller
  items = Enumerator.new { |yielder| next_generator(yielder) }
  items.next
  items.next
end

def next_generator(yielder)
  yielder.yield(next_item)
  yielder.yield(next_item)
end

def next_item
  1
end

def yielder_caller
  items = Enumerator.new { |yielder| yielder_generator(yielder) }
  items.each { |item| yielder_item(item) }
end

def yielder_generator(yielder)
  yielder.yield(1)
  yielder.yield(2)
end

def yielder_item(item)
  item
end

def thread_caller(n)
  Thread.new { thread_item(n) }.join
end

def thread_item(n)
  [n].each { |item| thread_inner(item) }
end

def thread_inner(item)
  item
end

# --- recursion -------------------------------------------------------------------------------

def recursion_caller(n)
  recursion(n)
end

def recursion(n)
  n > 0 ? recursion(n - 1) : recursion_end
end

def recursion_end
  0
end

def mutual_caller(n)
  mutual_even(n)
end

def mutual_even(n)
  n > 0 ? mutual_odd(n - 1) : 0
end

def mutual_odd(n)
  [n].map { |item| mutual_even(item) }
end

# --- code that no native walk can leave ------------------------------------------------------

if ARGV[2].to_s.end_with?(".so")
  require "fiddle"
  require "fiddle/closure"

  # What that code calls back.
  class Called < Fiddle::Closure
    def call(turns)
      called_inner(turns)
    end

    def called_inner(turns)
      SPIN.call(turns * 100)
      turns
    end
  end

  UNWALKABLE = Fiddle.dlopen(ARGV[2])
  SPIN = Fiddle::Function.new(UNWALKABLE["unwalkable_spin"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOID)
  CALL = Fiddle::Function.new(UNWALKABLE["unwalkable_call"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG],
                              Fiddle::TYPE_LONG)
  CALLED = Called.new(Fiddle::TYPE_LONG, [Fiddle::TYPE_LONG])
end

def unwalkable_round(turn)
  n = Truth.vary(turn, 3, 20)
  spin_caller(n)
  spin_each_caller(ITEMS[n])
  call_caller(n)
end

def spin_caller(turns)
  SPIN.call(turns * 1000)
end

def spin_each_caller(items)
  items.each { |item| spin_inner(item) }
end

def spin_inner(item)
  SPIN.call(item * 100)
end

def call_caller(turns)
  CALL.call(CALLED, turns)
end

# --- all of it -------------------------------------------------------------------------------

def one_round(turn)
  n = Truth.vary(turn, 3, 20)
  items = ITEMS[n]
  plain_outer(n)
  empty_caller(n)
  each_caller(items)
  map_caller(items)
  times_caller(n)
  range_caller(n)
  nested_caller(items)
  sort_by_caller(items)
  sort_caller(items)
  inject_caller(items)
  gsub_caller
  hash_each_caller
  default_caller(n)
  yield_caller(n)
  proc_caller(n)
  lambda_caller(n)
  loop_caller(n)
  tap_caller(n)
  synchronize_caller(n)
  public_send_caller(n)
  send_caller(n)
  method_caller(n)
  vector = new_caller(n)
  symbol_caller(vector)
  add_caller(vector)
  equal_caller(vector)
  hash_caller(vector)
  compare_caller(vector)
  coerce_caller(vector)
  enumerable_caller(vector)
  to_s_caller(vector)
  missing_caller(vector)
  defined_caller(vector)
  const_caller
  super_caller
  raise_caller(3)
  raise_c_caller
  catch_caller(n)
  break_caller(items)
  return_caller(items)
  recursion_caller(n)
  mutual_caller(n)
end

# What is more than calls.
def slow_round(turn)
  n = Truth.vary(turn, 3, 20)
  fiber_caller(n)
  next_caller
  yielder_caller
  thread_caller(n)
  evaluated_caller(n)
end

def collect
  # Fiddle has libffi keep a closure's address, which compaction changes.
  defined?(UNWALKABLE) ? GC.start : GC.compact
rescue NotImplementedError, NoMethodError
  GC.start
end

ITEMS = Array.new(30) { |n| Array.new(n) { |item| item } }

# What may stand where, and what the program does before and behind its rounds.
CHAINS = <<~TEXT
  <main> > *
  <main> > * > block in <main> > * > block (2 levels) in <main>
  <main> > * > Vector#initialize
  <main> > <class:Sender> > *
  <main> > <class:Vector> > *
  <main> > <class:Derived> > *
  <main> > <class:Wrong> > *
  block in <main> > *
  <main> > Object#main > Object#all_rounds > Object#one_round
  Object#all_rounds > Object#slow_round
  Object#all_rounds > Object#collect > *
  Object#all_rounds : Integer#< Integer#+ Integer#% Integer#==
  block (2 levels) in Object#main > Object#all_rounds
  Object#main > * > block in Object#main > Thread.new > *
  Object#main > *
  Object#one_round : Array#[]

  Object#one_round > Object#plain_outer > Object#plain_middle > Object#plain_inner > Object#plain_leaf
  Object#plain_outer : Integer#+
  Object#plain_middle : Integer#+
  Object#plain_leaf : Integer#* Integer#-
  Object#one_round > Object#empty_caller > Object#empty
  Object#empty_caller : Integer#> Integer#-
  Object#one_round > Object#each_caller > Array#each > block in Object#each_caller > Object#each_item
  Object#each_item : Integer#&
  Object#one_round > Object#map_caller > Array#map > block in Object#map_caller > Object#map_item > Object#map_item_inner
  Object#map_item_inner : Integer#|
  Object#one_round > Object#times_caller > Integer#times > block in Object#times_caller > Object#times_item
  Object#one_round > Object#range_caller > Range#each > block in Object#range_caller > Object#range_item
  Object#one_round > Object#nested_caller > Array#each > block in Object#nested_caller
  block in Object#nested_caller > Integer#times > block (2 levels) in Object#nested_caller > Object#nested_item
  Object#nested_item > Array#map > block in Object#nested_item > Object#nested_inner
  Object#one_round > Object#sort_by_caller > Enumerable#sort_by > Array#each > block in Object#sort_by_caller
  block in Object#sort_by_caller > Object#sort_by_key > Object#sort_by_inner > Integer#-@
  Object#one_round > Object#sort_caller > Array#sort > block in Object#sort_caller > Object#sort_compare > Integer#<=>
  Object#one_round > Object#inject_caller > Enumerable#inject > Array#each > block in Object#inject_caller
  block in Object#inject_caller > Object#inject_step
  Object#inject_step : Integer#|
  Object#one_round > Object#gsub_caller > String#gsub > block in Object#gsub_caller > Object#gsub_replace > String#upcase
  Object#one_round > Object#hash_each_caller > Hash#each > block in Object#hash_each_caller > Object#hash_each_item
  Object#hash_each_item : Integer#*
  Object#one_round > Object#default_caller > (Hash#[]) > (Proc#yield) > block in Object#default_caller > Object#default_inner
  Object#default_caller > Class#new > Hash#initialize
  Object#default_caller > Hash.new > Class#new > Hash#initialize
  Object#one_round > Object#yield_caller > Object#yielding > block in Object#yield_caller > Object#yield_item
  Object#one_round > Object#proc_caller > (Proc#call) > block in Object#proc_caller > Object#proc_inner
  Object#proc_caller > Kernel#proc
  Object#one_round > Object#lambda_caller > (Proc#call) > block in Object#lambda_caller > Object#lambda_inner
  Object#lambda_caller > lambda
  Object#one_round > Object#loop_caller > Kernel#loop > block in Object#loop_caller > Object#loop_inner
  block in Object#loop_caller : Integer#-
  Object#loop_inner : Integer#>
  Object#one_round > Object#tap_caller > Kernel#tap > block in Object#tap_caller > Object#tap_inner
  Object#one_round > Object#synchronize_caller > Thread::Mutex#synchronize > block in Object#synchronize_caller
  Object#synchronize_caller > Class#new > Thread::Mutex#initialize
  block in Object#synchronize_caller > Object#synchronize_inner

  Object#one_round > Object#public_send_caller > Kernel#public_send > Sender#sent > Sender#sent_inner
  Object#one_round > Object#send_caller > (Kernel#send) > Sender#sent_privately > Sender#sent_privately_inner
  Object#one_round > Object#method_caller > Method#call > Object#method_called > Object#method_inner
  Object#method_caller > Kernel#method
  Object#one_round > Object#symbol_caller > Array#map > Vector#doubled > Vector#doubled_inner
  Vector#doubled_inner : Vector#x Integer#*
  Object#slow_round > Object#evaluated_caller > BasicObject#instance_eval > block in Object#evaluated_caller
  Object#evaluated_caller > Kernel#eval > Object#evaluated_caller > Object#evaluated_inner

  Object#one_round > Object#new_caller > Class#new > Vector#initialize > Vector#initialize_inner
  Object#one_round > Object#add_caller > Vector#+ > Vector#add_inner
  Vector#add_inner : Vector#x Integer#+
  Object#one_round > Object#equal_caller > Array#include? > Vector#== > Vector#equal_inner > BasicObject#equal?
  Object#equal_caller > Array#include? > Integer#== > Vector#==
  Object#equal_caller > Kernel#itself
  Object#one_round > Object#hash_caller > (Hash#[]=) > Vector#hash > Vector#hash_inner
  Object#hash_caller > (Hash#[]) > Vector#hash
  Object#hash_caller > (Hash#[]) > Vector#eql? > Vector#eql_inner
  Object#one_round > Object#compare_caller > Comparable#< > Vector#<=> > Vector#compare_inner
  Vector#compare_inner : Vector#x Integer#-
  Object#one_round > Object#coerce_caller > Integer#+ > Vector#coerce > Vector#coerce_inner > Class#new > Vector#initialize
  Object#coerce_caller > Integer#+ > Vector#+
  Object#one_round > Object#enumerable_caller > Enumerable#map > Vector#each > Vector#each_inner
  Vector#each_inner : Vector#x
  Vector#each > block in Object#enumerable_caller > Object#enumerable_item
  Object#one_round > Object#to_s_caller > Vector#to_s > Vector#to_s_inner
  Object#one_round > Object#missing_caller > Vector#method_missing > Vector#missing_inner
  Object#one_round > Object#defined_caller > block in <class:Vector> > Vector#defined_inner
  Vector#defined_inner : Vector#x
  Object#one_round > Object#const_caller > Vector.const_missing > Vector.const_inner
  Object#one_round > Object#super_caller > Derived#lower > Vector#lower > Vector#lower_inner
  Vector#lower_inner : Vector#x

  Object#one_round > Object#raise_caller > Object#raise_middle > Object#raise_inner > Kernel#raise > *
  Object#raise_caller : Integer#> Integer#-
  Object#raise_middle > Object#raise_ensure
  Object#raise_caller > Object#raise_handler
  Object#raise_caller > Module#===
  Object#one_round > Object#raise_c_caller > Kernel#Integer > *
  Object#raise_c_caller > Module#===
  Object#raise_c_caller > Object#raise_c_handler
  Object#one_round > Object#catch_caller > Kernel#catch > block in Object#catch_caller > Object#catch_inner
  Object#catch_inner > Array#each > block in Object#catch_inner > Object#catch_thrower > Kernel#throw
  Object#one_round > Object#break_caller > Array#each > block in Object#break_caller > Object#break_inner
  Object#one_round > Object#return_caller > Array#each > block in Object#return_caller > Object#return_inner

  Object#slow_round > Object#fiber_caller > Class#new > Fiber#initialize
  Object#fiber_caller > Fiber#resume
  Object#fiber_caller > Fiber#alive?
  block in Object#fiber_caller > Object#fiber_outer > Integer#times > block in Object#fiber_outer > Object#fiber_inner
  Object#fiber_inner > Fiber.yield
  Object#fiber_inner > Object#fiber_leaf
  Object#slow_round > Object#next_caller > *
  block in Object#next_caller > Object#next_generator > Object#next_item
  Object#next_generator > Enumerator::Yielder#yield > *
  Object#slow_round > Object#yielder_caller > Enumerator#each > Enumerator::Generator#each > block in Object#yielder_caller
  Object#yielder_caller > Enumerator#each > Enumerator::Generator#each > proc
  Object#yielder_caller > Class#new > *
  block in Object#yielder_caller > Object#yielder_generator > Enumerator::Yielder#yield > block in Object#yielder_caller
  block in Object#yielder_caller > Object#yielder_item
  Object#slow_round > Object#thread_caller > *
  block in Object#thread_caller > Object#thread_item > Array#each > block in Object#thread_item > Object#thread_inner

  Object#all_rounds > Object#unwalkable_round > Object#spin_caller > Fiddle::Function#call
  Object#spin_caller : Integer#*
  Object#unwalkable_round > Object#spin_each_caller > Array#each > block in Object#spin_each_caller > Object#spin_inner
  Object#spin_inner > Fiddle::Function#call
  Object#spin_inner : Integer#*
  Object#unwalkable_round > Object#call_caller > Fiddle::Function#call > Called#call > Called#called_inner
  Called#called_inner > Fiddle::Function#call
  Called#called_inner : Integer#*
  Object#call_caller > Fiddle::Function#call > *
  Object#unwalkable_round : Array#[]
  <main> > <class:Called> > *

  Object#one_round > Object#recursion_caller > Object#recursion > Object#recursion > Object#recursion_end
  Object#recursion : Integer#> Integer#-
  Object#one_round > Object#mutual_caller > Object#mutual_even > Object#mutual_odd > Array#map > block in Object#mutual_odd
  Object#mutual_even : Integer#> Integer#-
  block in Object#mutual_odd > Object#mutual_even
TEXT
# What the program itself has methods for.
OWNERS = %w[Object Vector Derived Sender Called].freeze
BEGINNINGS = ["<main>", "block (2 levels) in Object#main", "block in Object#fiber_caller", "block in Object#next_caller",
              "block in Object#thread_caller"].freeze

def all_rounds(finish)
  turn = 0
  while Truth.process_cpu_ns < finish
    turn += 1
    one_round(turn)
    slow_round(turn) if turn % 10 == 0
    unwalkable_round(turn) if defined?(UNWALKABLE)
    collect if turn % 1000 == 0
  end
  turn
end

def main
  GC.auto_compact = true if ARGV[2] == "compact" && GC.respond_to?(:auto_compact=)
  finish = Truth.process_cpu_ns + Truth.budget_ns(2000)
  threads = Array.new((ARGV[1] || 0).to_i) { Thread.new { all_rounds(finish) } }
  Truth.add("counts", "rounds", all_rounds(finish))
  threads.each(&:join)
  Truth.show(chains: CHAINS.lines.map(&:strip).reject(&:empty?), beginnings: BEGINNINGS, owners: OWNERS)
end

main
