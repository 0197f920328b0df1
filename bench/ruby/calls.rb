# What calls of empty methods cost, by the program's own clock: calls.rb [CALLS [ROUNDS]]
#
# Prints one JSON object: nanoseconds for a call of a method and of a C method, the loop taken off; the least of some rounds.

def empty
end

def loop_alone(calls)
  i = 0
  i += 1 while i < calls
end

def ruby_calls(calls)
  i = 0
  while i < calls
    empty
    i += 1
  end
end

def c_calls(calls)
  i = 0
  text = "text"
  while i < calls
    text.bytesize
    i += 1
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

calls, rounds = Integer(ARGV.fetch(0, "30000")), Integer(ARGV.fetch(1, "60"))
least = Hash.new(1e9)
rounds.times do
  %i[loop_alone ruby_calls c_calls].each do |program|
    begin_ns = now
    send(program, calls)
    least[program] = [least[program], (now - begin_ns) / calls.to_f].min
  end
end
printf("{\"ruby_ns\": %f, \"c_ns\": %f, \"loop_ns\": %f}\n", least[:ruby_calls] - least[:loop_alone],
       least[:c_calls] - least[:loop_alone], least[:loop_alone])
