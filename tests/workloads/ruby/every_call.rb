# Calls of every kind there is, each method a known number of times where its name says so.
module Kinds
  class Base
    def plain(n)
      n
    end

    def with_default(a = plain(1), b: plain(2))
      a + b
    end

    def matching_default(text, found = (text =~ /b/ ? $~[0] : nil))
      found
    end

    def block_taker
      yield 1
      yield 2
    end

    def method_missing(name, *arguments)
      name == :absent ? arguments.size : super
    end

    def respond_to_missing?(name, _all = false)
      name == :absent
    end

    attr_accessor :field

    define_method(:from_block) { |x| plain(x) }
    TWICE = proc { |x| plain(x) }
    define_method(:shared_one, &TWICE)
    define_method(:shared_two, &TWICE)
    alias_method :other_name, :plain

    def self.on_class(x)
      x
    end
  end

  class Derived < Base
    def plain(n)
      super + 0
    end

    def initialize
      super()
      @field = 3
    end
  end

  module Mixed
    def mixed
      1
    end

    def <=>(other)
      object_id <=> other.object_id
    end
  end

  class One
    include Comparable
    include Mixed
  end

  class Two
    include Comparable
    include Mixed
  end

  module Refined
    refine String do
      def shouted
        upcase + "!"
      end
    end
  end

  Pair = Struct.new(:left, :right) do
    def sum
      left + right
    end
  end

  class Endings
    def raises
      raise(ArgumentError, "no")
    end

    def rescues
      raises
    rescue ArgumentError
      after(1)
    end

    def after(x)
      x
    end

    def ensures
      raises
    ensure
      after(2)
    end

    def retries
      tries ||= 0
      tries += 1
      raises if tries < 3
      tries
    rescue ArgumentError
      retry
    end

    def throws(depth)
      depth.zero? ? throw(:out, 1) : throws(depth - 1)
    end

    def catches
      catch(:out) { throws(5) }
    end

    def breaks
      [1, 2, 3].each { |x| break after(x) if x == 2 }
    end

    def returns_from_block
      [1, 2, 3].each { |x| return after(x) }
    end

    def in_c_raises
      Integer("none")
    rescue ArgumentError
      after(0)
    end

    def nested_c_raises
      [1].map { |x| [x].each { |y| Integer("#{y}x") } }
    rescue ArgumentError
      after(0)
    end

    def overflows
      overflows
    end

    def next_in_lambda
      ->(x) { next after(x) }.call(1)
    end

    def by_bmethod_raises
      leaves
    rescue ArgumentError
      after(1)
    end

    define_method(:leaves) { raises }
    define_method(:returns_early) { |x| return after(x) if x == 1 }
  end
end

using Kinds::Refined

class KindsUser
  include Kinds

  def factorial(n)
    n.zero? ? 1 : n * factorial(n - 1)
  end

  def is_even(n)
    n.zero? || is_odd(n - 1)
  end

  def is_odd(n)
    !n.zero? && is_even(n - 1)
  end

  def deep(n)
    n.zero? ? 0 : deep(n - 1)
  end

  def bodies
    [Kinds::Base.new, Kinds::Derived.new].each do |object|
      object.plain(1)
      object.with_default
      object.with_default(1)
      object.with_default(1, b: 2)
      object.matching_default("abc")
      object.block_taker { |x| object.plain(x) }
      object.absent(1, 2)
      object.from_block(1)
      object.shared_one(1)
      object.shared_two(1)
      object.other_name(1)
      object.field = 5
      object.field
      object.send(:plain, 1)
      object.public_send(:plain, 1)
      object.method(:plain).call(1)
      object.method(:plain).unbind.bind(object).call(2)
      object.instance_eval { plain(1) }
      object.tap { |it| it.plain(3) }
      eval("object.plain(4)", binding, __FILE__, __LINE__)
      %w[1 2].map(&:to_i).each(&object.method(:plain))
    end
    Kinds::Base.on_class(1)
    Kinds::Derived.on_class(2)
  end

  def objects
    one = Kinds::One.new
    two = Kinds::Two.new
    [one.mixed, two.mixed, one == two, one.clamp(one, one)]
    single = Object.new
    def single.only
      1
    end
    single.only
    single.singleton_class.define_method(:another) { 2 }
    single.another
    20.times { Object.new.extend(Kinds::Mixed).mixed }
    3.times { Class.new { def anonymous() 1 end }.new.anonymous }
    "abc".shouted
    pair = Kinds::Pair.new(1, 2)
    [pair.sum, pair.left, pair == pair, pair.to_a]
  end

  def endings
    it = Kinds::Endings.new
    it.rescues
    it.ensures rescue nil
    it.retries
    it.catches
    it.breaks
    it.returns_from_block
    it.in_c_raises
    it.nested_c_raises
    begin
      it.overflows
    rescue SystemStackError
      it.after(9)
    end
    it.next_in_lambda
    it.by_bmethod_raises
    it.returns_early(1)
    it.returns_early(2)
  end

  def operators
    sum = 0
    100.times { |i| sum += i * 2 - i / 1 }
    text = +""
    10.times { |i| text << i.to_s }
    [1, 2, 3][1]
    { a: 1 }[:a]
    [3, 1, 2].sort { |a, b| a <=> b }
    [3, 1, 2].sort_by(&:-@)
    [3, 1, 2].max
    [text.empty?, text.length, !text, text == "x", text != "x", nil.nil?]
    (1..20).inject(:+)
    (1..20).each_slice(3).map(&:sum)
    %w[b a].each_with_index.to_a
    "a-b-c".gsub(/-/) { |m| m.ord.to_s }
    format("%05d", 7)
    [[1, [2]], 3].flatten
    { "a" => 1 }.map { |k, v| [k, v] }.to_h
  end

  def everything
    factorial(10)
    is_even(25)
    deep(400)
    bodies
    objects
    endings
    operators
    nil
  end
end

KindsUser.new.everything
