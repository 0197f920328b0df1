# Phases with and without garbage collection: how long it took, Ruby itself measures (GC.total_time, from
# 3.1 on), and the program around its own calls of GC.start and GC.compact.

require_relative "truth"

HEAP = Array.new(120_000) { |number| ["kept", number.to_s] }

def compute(rounds)
  rounds.times do
    20_000.times { |number| number & 3 }
  end
end

def collect(rounds)
  rounds.times { GC.start }
end

def allocate(rounds)
  rounds.times do
    2000.times { |number| "text #{number}" * 3 }
  end
end

def compact(rounds)
  rounds.times { GC.compact }
end

def collected_ns
  GC.respond_to?(:total_time) ? GC.total_time : (GC::Profiler.total_time * 1e9).to_i
end

PHASES = { compute: 20, collect: 2, allocate: 30 }
begin
  GC.compact
  PHASES[:compact] = 1
rescue NotImplementedError, NoMethodError
  # Nothing to measure.
end

def main
  GC::Profiler.enable unless GC.respond_to?(:total_time)
  before = collected_ns
  finish = Truth.process_cpu_ns + Truth.budget_ns(2000)
  turn = 0
  while Truth.process_cpu_ns < finish
    turn += 1
    PHASES.each do |name, rounds|
      count = Truth.vary(turn, rounds, rounds / 2)
      start, collected = Truth.thread_cpu_ns, collected_ns
      __send__(name, count)
      Truth.add("total", "Object##{name}", Truth.thread_cpu_ns - start)
      Truth.add("counts", name.to_s, collected_ns - collected)
    end
  end
  Truth.show(collected_ns: collected_ns - before)
end

main
