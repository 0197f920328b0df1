# Goes back into functions of compiled code whose stack was copied, when others have run where they were.
require "continuation"
require "fiddle"

library = Fiddle.dlopen(ARGV[0])
one, two = %w[one two].map do |name|
  Fiddle::Function.new(library["calls_back_" + name], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT], Fiddle::TYPE_INT)
end

class Called < Fiddle::Closure
  def call(number)
    callcc { |back| $back ||= back } if $keeps
    number
  end
end

called = Called.new(Fiddle::TYPE_INT, [Fiddle::TYPE_INT])
results = []
$keeps = true
results << one.call(called, 5)
$keeps = false
others = two.call(called, 5)
$back.call if results.size < 4
puts results.inspect, others
