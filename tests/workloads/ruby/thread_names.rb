# Threads that compute, each for so many milliseconds of its own CPU time, and the names they have: prints them, each
# in a line.

BUDGET_S = ARGV[0].to_f / 1000

def work
  finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + BUDGET_S
  while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
    1000.times { |number| number }
  end
end

NAMES = ["plain worker", "été € 🐍", "renamed later", "one whose name is longer than the kernel has room for"]
threads = NAMES.map do |name|
  Thread.new do
    Thread.current.name = name == "renamed later" ? "the first name" : name
    work if name == "renamed later"
    Thread.current.name = name
    work
  end
end
threads.each(&:join)
puts NAMES
