# The Ruby part of the demonstration.
class Names
  def initialize(count)
    @names = (1..count).map { |n| "name #{n * 7919 % count}" }
  end

  def sorted
    @names.sort_by { |name| name.reverse }
  end

  def checksum
    @names.sum { |name| name.bytes.sum }
  end
end

names = Names.new(40_000)
puts names.sorted.first, 5.times.sum { names.checksum }
