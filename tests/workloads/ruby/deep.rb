# Recursion to several depths, in Ruby alone and through C: how often one and the other go down.
#
# The first argument is milliseconds, the second how deep.

require_relative "truth"

def descend(depth, finish)
  depth > 0 ? descend(depth - 1, finish) : bottom(finish)
end

def descend_through_c(depth, finish)
  depth > 0 ? [depth - 1].each { |less| descend_through_c(less, finish) } : bottom_of_c(finish)
end

def bottom(finish)
  nil while Truth.process_cpu_ns < finish
end

def bottom_of_c(finish)
  nil while Truth.process_cpu_ns < finish
end

def main
  depth = ARGV[1].to_i
  start = Truth.process_cpu_ns
  descend(depth, start + Truth.budget_ns(500) / 2)
  through_c = depth / 4
  descend_through_c(through_c, start + Truth.budget_ns(500))
  Truth.add("counts", "descend", depth)
  Truth.add("counts", "descend_through_c", through_c)
  Truth.show
end

main
