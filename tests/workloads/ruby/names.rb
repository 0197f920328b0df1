# Code of every kind that Ruby has a way to name, each of which burns some milliseconds.
#
# Prints the frames that stand above each Object#burn, innermost first, up to Object#main or the outermost,
# by the names that Ruby 3.4 gives them.  On 3.4 and later they are compared with what Ruby itself says.

require_relative "truth"

EXPECTED = {}
BURN_NS = Truth.budget_ns(20)
SHOWS_ITSELF = Gem::Version.new(RUBY_VERSION) >= Gem::Version.new("3.4")

def burn(kind)
  compare(kind, caller_locations(1)) if SHOWS_ITSELF
  finish = Truth.thread_cpu_ns + BURN_NS
  nil while Truth.thread_cpu_ns < finish
end

def compare(kind, locations)
  labels = locations.map(&:label)
  labels = labels.take_while { |label| label != "Object#main" }
  return if labels == EXPECTED.fetch(kind) || kind == :refined

  warn "names.rb: #{kind}: expected #{EXPECTED[kind]}, Ruby says #{labels}"
  exit!(1)
end

# expect(kind, frames…) { what runs it }
def expect(kind, *frames)
  EXPECTED[kind] = frames
end

expect :instance, "Zoo::Foo#bar", "Object#methods_of_objects"
expect :singleton, "Zoo::Foo.baz", "Object#methods_of_objects"
expect :inherited, "Zoo::Foo.baz_too", "Object#methods_of_objects"
expect :module_function, "Zoo::Tools.helper", "Object#methods_of_objects"
expect :mixed_in, "Zoo::Tools#included_helper", "Object#methods_of_objects"
expect :of_one_object, "special", "Object#methods_of_objects"
expect :missing, "Zoo::Foo#method_missing", "Object#methods_of_objects"
expect :aliased, "Zoo::Foo#named_first", "Object#methods_of_objects"
expect :prepended, "Zoo::Foo#over", "Zoo::Before#over", "Object#methods_of_objects"
expect :by_super, "Zoo::Foo#lower", "Zoo::Bar#lower", "Object#methods_of_objects"
expect :operator, "Zoo::Foo#+", "Object#methods_of_objects"
expect :element, "Zoo::Foo#[]=", "Object#methods_of_objects"
expect :setter, "Zoo::Foo#value=", "Object#methods_of_objects"
expect :predicate, "Zoo::Foo#ok?", "Object#methods_of_objects"
expect :not_ascii, "Zoo::Foo#größe", "Object#methods_of_objects"
expect :interpolated, "Zoo::Foo#to_s", "Object#methods_of_objects"
expect :initialized, "Zoo::Made#initialize", "Class#new", "Object#methods_of_objects"
expect :deep, "Zoo::Inner::Deep#dig", "Object#methods_of_objects"
expect :bare, "Zoo::Bare#work", "Object#methods_of_objects"
expect :of_struct, "Zoo::Pair#sum", "Object#methods_of_objects"
expect :assigned_later, "Zoo::Later#late", "Object#methods_of_objects"
expect :anonymous, "nameless", "Object#methods_of_objects"
expect :of_string, "String#shouted", "Object#methods_of_objects"
expect :of_integer, "Integer#doubled", "Object#methods_of_objects"
expect :of_nil, "NilClass#nothing", "Object#methods_of_objects"
expect :refined, "String#refined", "Object#methods_of_objects"
expect :evaluated_method, "Zoo::Foo#evaluated", "Object#methods_of_objects"

expect :block, "block in Zoo::Foo#blocks", "Array#each", "Zoo::Foo#blocks", "Object#blocks"
expect :nested, "block (2 levels) in Zoo::Foo#blocks", "Integer#times", "block in Zoo::Foo#blocks", "Array#each",
       "Zoo::Foo#blocks", "Object#blocks"
expect :defined, "block in <class:Foo>", "Object#blocks"
expect :lambda, "block in Object#blocks", "Object#blocks"
expect :instance_eval, "block in Object#blocks", "BasicObject#instance_eval", "Object#blocks"
expect :instance_exec, "block in Object#blocks", "BasicObject#instance_exec", "Object#blocks"
expect :symbol, "Zoo::Foo#each_one", "Array#each", "Object#blocks"
expect :for, "block in Object#blocks", "Array#each", "Object#blocks"
expect :caught, "block in Object#blocks", "Kernel#catch", "Object#blocks"
expect :looped, "block in Object#blocks", "Kernel#loop", "Object#blocks"
expect :tapped, "block in Object#blocks", "Kernel#tap", "Object#blocks"
expect :injected, "block in Object#blocks", "Array#each", "Enumerable#inject", "Object#blocks"
expect :sorted, "block in Object#blocks", "Array#sort", "Object#blocks"
expect :of_hash, "block in Object#blocks", "Hash#each", "Object#blocks"
expect :substituted, "block in Object#blocks", "String#gsub", "Object#blocks"
expect :yielded, "block in Object#blocks", "Object#yields", "Object#blocks"
expect :public_send, "Zoo::Foo#sent", "Kernel#public_send", "Object#blocks"
expect :method_object, "Zoo::Foo#as_object", "Method#call", "Object#blocks"
expect :of_class, "block in Object#blocks", "IO.open", "Object#blocks"
expect :compared, "Zoo::Foo#<=>", "Comparable#<", "Object#blocks"

expect :class_body, "<class:Body>", "<module:Bodies>", "<top (required)>", "Kernel#require_relative", "Object#bodies"
expect :module_body, "<module:Bodies>", "<top (required)>", "Kernel#require_relative", "Object#bodies"
expect :singleton_class, "singleton class", "<class:Body>", "<module:Bodies>", "<top (required)>",
       "Kernel#require_relative", "Object#bodies"
expect :required, "<top (required)>", "Kernel#require_relative", "Object#bodies"
expect :loaded, "<top (required)>", "Kernel#load", "Object#bodies"
expect :evaluated, "Object#bodies", "Kernel#eval", "Object#bodies"
expect :evaluated_in_file, "Object#bodies", "Kernel#eval", "Object#bodies"
# Where an exception is handled is a frame of its own, which stands for its method's.
expect :rescued, "Object#bodies"
expect :ensured, "Object#ensures", "Object#bodies"

expect :thread, "block in Object#threads"
expect :fiber, "block in Object#fibers"
expect :at_exit, "block in Object#exits"

module Zoo
  module Tools
    module_function

    def helper
      burn(:module_function)
    end

    public

    def included_helper
      burn(:mixed_in)
    end
  end

  module Before
    def over
      super
    end
  end

  class Foo
    include Tools
    include Comparable
    prepend Before

    def bar
      burn(:instance)
    end

    def self.baz
      burn(:singleton)
    end

    def self.baz_too
      burn(:inherited)
    end

    def method_missing(name, *arguments)
      name == :unheard_of ? burn(:missing) : super
    end

    def respond_to_missing?(name, include_all = false)
      name == :unheard_of || super
    end

    def named_first
      burn(:aliased)
    end
    alias named_then named_first

    def over
      burn(:prepended)
    end

    def lower
      burn(:by_super)
    end

    def +(_other)
      burn(:operator)
    end

    def []=(_key, _value)
      burn(:element)
    end

    def value=(_value)
      burn(:setter)
    end

    def ok?
      burn(:predicate)
    end

    def größe
      burn(:not_ascii)
    end

    def to_s
      burn(:interpolated)
      ""
    end

    def <=>(_other)
      burn(:compared)
      0
    end

    def blocks
      [1].each do
        burn(:block)
        1.times { burn(:nested) }
      end
    end

    define_method(:defined) { burn(:defined) }

    def each_one
      burn(:symbol)
    end

    def sent
      burn(:public_send)
    end

    def as_object
      burn(:method_object)
    end
  end

  class Bar < Foo
    def lower
      super
    end
  end

  class Made
    def initialize
      burn(:initialized)
    end
  end

  module Inner
    class Deep
      def dig
        burn(:deep)
      end
    end
  end

  class Bare < BasicObject
    def work
      ::Object.new.__send__(:burn, :bare)
    end
  end

  Pair = Struct.new(:left, :right) do
    def sum
      burn(:of_struct)
    end
  end
end

class String
  def shouted
    burn(:of_string)
  end
end

class Integer
  def doubled
    burn(:of_integer)
  end
end

class NilClass
  def nothing
    burn(:of_nil)
  end
end

module Refining
  refine String do
    def refined
      burn(:refined)
    end
  end
end

using Refining

def methods_of_objects
  foo = Zoo::Foo.new
  foo.bar
  Zoo::Foo.baz
  Zoo::Bar.baz_too
  Zoo::Tools.helper
  foo.included_helper
  one = Object.new
  def one.special
    burn(:of_one_object)
  end
  one.special
  foo.unheard_of
  foo.named_then
  foo.over
  Zoo::Bar.new.lower
  _ = foo + 1
  foo[1] = 2
  foo.value = 1
  foo.ok?
  foo.größe
  _ = "#{foo}"
  Zoo::Made.new
  Zoo::Inner::Deep.new.dig
  Zoo::Bare.new.work
  Zoo::Pair.new(1, 2).sum
  later = Class.new do
    def late
      burn(:assigned_later)
    end
  end
  Zoo.const_set(:Later, later)
  later.new.late
  Class.new do
    def nameless
      burn(:anonymous)
    end
  end.new.nameless
  "text".shouted
  1.doubled
  nil.nothing
  "text".refined
  Zoo::Foo.class_eval("def evaluated; burn(:evaluated_method); end", "made_up.rb", 7)
  foo.evaluated
end

def yields
  yield
end

def blocks
  foo = Zoo::Foo.new
  foo.blocks
  foo.defined
  -> { burn(:lambda) }.call
  foo.instance_eval { burn(:instance_eval) }
  foo.instance_exec { burn(:instance_exec) }
  [foo].each(&:each_one)
  for _ in [1] do burn(:for) end
  catch(:done) { burn(:caught) }
  loop do
    burn(:looped)
    break
  end
  foo.tap { burn(:tapped) }
  [1, 2].inject { burn(:injected) }
  [1, 2].sort { burn(:sorted); 0 }
  { 1 => 2 }.each { burn(:of_hash) }
  "text".gsub("t") { burn(:substituted); "" }
  yields { burn(:yielded) }
  foo.public_send(:sent)
  foo.method(:as_object).call
  File.open(__FILE__) { burn(:of_class) }
  foo < Zoo::Foo.new
end

def ensures
  raise "unheard"
ensure
  burn(:ensured)
end

def bodies
  require_relative "names_bodies"
  load File.join(__dir__, "names_loaded.rb")
  eval("burn(:evaluated)")
  eval("burn(:evaluated_in_file)", binding, "made_up.rb", 7)
  begin
    raise "unheard"
  rescue StandardError
    burn(:rescued)
  end
  begin
    ensures
  rescue StandardError
    nil
  end
end

def threads
  Thread.new { burn(:thread) }.join
end

def fibers
  Fiber.new { burn(:fiber) }.resume
end

def exits
  at_exit do
    burn(:at_exit)
    Truth.show(above_burn: EXPECTED.values.uniq)
  end
end

def main
  methods_of_objects
  blocks
  bodies
  threads
  fibers
  exits
end

main
