# truth - what a Ruby workload knows of itself, as one line of JSON.
#
# As tests/workloads/truth.h is for C: a workload measures its own phases by the thread's CPU clock, and
# prints at its end what each method, line or thread of it really took.  Runs on Ruby 2.7 and later.
#
# With BESIDE_STACKPROF in the environment the program samples itself with stackprof as well, and prints
# what that says of it.

require "json"

module Truth
  FACTS = {}
  %w[self total lines threads processes counts].each { |kind| FACTS[kind] = {} }

  def self.thread_cpu_ns
    Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
  end

  def self.process_cpu_ns
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  end

  def self.add(kind, name, amount)
    FACTS[kind][name] = (FACTS[kind][name] || 0) + amount
  end

  # The last line of what the workload prints.
  def self.show(**more)
    more[:stackprof] = stackprof_says if defined?(StackProf)
    puts JSON.generate(FACTS.merge("cpu_ns" => process_cpu_ns).merge(more))
    $stdout.flush
  end

  def self.stackprof_says
    StackProf.stop
    results = StackProf.results
    frames = results[:frames].values
    { "samples" => results[:samples], "missed" => results[:missed_samples], "gc" => results[:gc_samples],
      "self" => frames.to_h { |frame| [frame[:name], frame[:samples]] },
      "total" => frames.to_h { |frame| [frame[:name], frame[:total_samples]] } }
  end

  # The first argument is milliseconds of CPU time to burn.
  def self.budget_ns(default_ms)
    Float(ARGV[0] || default_ms).to_i * 1_000_000
  end

  # An amount of work for this turn without rhythm: equal turns fall into step with a sampler.
  def self.vary(turn, least, span)
    least + (turn * 2654435761 >> 7) % (span + 1)
  end
end

if ENV["BESIDE_STACKPROF"]
  require "stackprof"
  StackProf.start(mode: :cpu, interval: 1000)
end
