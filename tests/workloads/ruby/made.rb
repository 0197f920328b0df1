# Ever new methods with new names, where methods were that are no more.
#
# Each is executed for some milliseconds and removed; what is printed says when each one lived, by the
# monotonic clock.  Garbage is collected all the time, and where Ruby can, the heap is compacted: what the
# next method is made of lies where another one's was.

require_relative "truth"

SOURCE = <<~TEXT
  class Made%<number>d
    def made_%<number>d(finish)
      turns = 0
      turns += 1 while Truth.thread_cpu_ns < finish
      turns
    end
  end
TEXT

def monotonic_ns
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def run_one(number, lives)
  eval("\n" * (number % 5000) + format(SOURCE, number: number), TOPLEVEL_BINDING, "<made #{number}>", 1)
  name = :"Made#{number}"
  made = Object.const_get(name)
  start = monotonic_ns
  made.new.__send__("made_#{number}", Truth.thread_cpu_ns + 2_000_000)
  lives["Made#{number}#made_#{number}"] = [start, monotonic_ns]
  made.remove_method("made_#{number}")
  Object.__send__(:remove_const, name)
end

def clean_up(turn)
  turn % 2 == 0 && GC.respond_to?(:compact) ? GC.compact : GC.start
rescue NotImplementedError
  GC.start
end

def main
  lives = {}
  finish = Truth.process_cpu_ns + Truth.budget_ns(1500)
  number = 0
  while Truth.process_cpu_ns < finish
    number += 1
    run_one(number, lives)
    clean_up(number / 7) if number % 7 == 0
  end
  Truth.show(lives: lives)
end

main
