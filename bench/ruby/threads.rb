# 60 threads asleep and four that compute, one at a time: threads.rb TIMES-FILE [TURNS]

require_relative "stamp"

ASLEEP = 60
COMPUTING = 4

def wait(queue)
  queue.pop
end

def compute(turns)
  turns.times do
    left = 50_000
    left -= 1 while left > 0
  end
  turns
end

def main(turns)
  queue = Queue.new
  asleep = Array.new(ASLEEP) { Thread.new { wait(queue) } }
  times_in(ARGV.fetch(0)) do
    computing = Array.new(COMPUTING) { Thread.new { compute(turns) } }
    check(computing.map(&:value), [turns] * COMPUTING)
  end
  queue.close
  asleep.each(&:join)
end

main(Integer(ARGV.fetch(1, "1000")))
