# Ractors whose methods are called a known number of times; some are collected before others begin.  From Ruby
# 3.0 on.  Prints {"calls": {method: calls}}.
require "json"

Warning[:experimental] = false

def leaf(i)
  i
end

def work(count)
  count.times { |i| leaf(i) }
  count
end

def result_of(ractor)
  ractor.respond_to?(:take) ? ractor.take : ractor.value
end

def one_after_another
  6.times do |i|
    result_of(Ractor.new(100 + i) { |count| work(count) })
    GC.start
    work(10)
  end
end

def at_once
  ractors = Array.new(4) do
    Ractor.new do
      while (count = Ractor.receive).positive?
        Ractor.yield(work(count)) if Ractor.respond_to?(:yield)
        work(count) unless Ractor.respond_to?(:yield)
      end
      [Thread.new { work(7) }, Fiber.new { work(8) }.resume].first.join
      0
    end
  end
  20.times { |i| ractors.each { |ractor| ractor.send(i + 1) } }
  ractors.each { |ractor| ractor.send(0) }
  ractors.each { |ractor| 20.times { ractor.take } } if Ractor.respond_to?(:yield)
  ractors.each { |ractor| result_of(ractor) }
end

# Ruby 3.3 and 3.4 may hang in many Ractors with threads, traced or not.
are_many = RUBY_VERSION < "3.3"
one_after_another
at_once if are_many
work(5)
leafs = 6 * 100 + 15 + 6 * 10 + 5 + (are_many ? 4 * (1..20).sum + 4 * 15 : 0)
works = 6 + 6 + 1 + (are_many ? 4 * 20 + 8 : 0)
puts JSON.generate("calls" => { "leaf" => leafs, "work" => works })
