# Strings, arrays and hashes that live for a moment, and some for longer: much of the time is the
# collector's.  allocations.rb TIMES-FILE [TURNS]

require_relative "stamp"

KEPT = 40_000

Item = Struct.new(:number, :text, :tags)

def make(number)
  Item.new(number, "item #{number}", [number % 7, number % 11])
end

def index(items)
  items.group_by { |item| item.tags.first }.transform_values(&:size)
end

def words(items)
  items.map { |item| item.text.split(" ").last.to_i }.sum
end

def turn(kept)
  items = Array.new(5_000) { |number| make(number) }
  kept.concat(items)
  kept.shift(items.size) if kept.size > KEPT
  [index(items).fetch(3), words(items)]
end

def main(turns)
  kept = []
  turns.times { check(turn(kept), [714, 12_497_500]) }
end

times_in(ARGV.fetch(0)) { main(Integer(ARGV.fetch(1, "300"))) }
