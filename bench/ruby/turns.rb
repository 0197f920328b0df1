# For each line of its input a turn of the same work; prints the CPU time that it took, in nanoseconds.

require "json"

def fibonacci(n)
  n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
end

def through_json(count)
  count.times { JSON.generate((0...40).map { |i| { id: i, name: "row #{i}", sum: (0...i).sum } }) }
end

def sort_much(count)
  words = (0...count).map { |i| (i * 7919 % count).to_s }
  words.sort.each_with_object({}) { |word, seen| seen[word] = true }
end

def cpu_ns
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
end

$stdout.sync = true
while gets
  from = cpu_ns
  through_json(60)
  fibonacci(16)
  sort_much(3000)
  puts cpu_ns - from
end
