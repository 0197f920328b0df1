# stamp - how long a part of a program took, written to a file.

def times_in(path)
  begin_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  begin_cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  yield
  cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - begin_cpu_ns
  end_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  File.write(path, "#{begin_ns} #{end_ns} #{cpu_ns}\n")
end

# A profiler that changes what a program computes is not measured.
def check(answer, expected)
  abort "#{$0}: #{answer.inspect} where #{expected.inspect} is right" if answer != expected
end
