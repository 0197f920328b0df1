# Calls methods while a library's signal handler interrupts them: prints how often which was called.
require "fiddle"

alarms = Fiddle.dlopen(ARGV[0])
start = Fiddle::Function.new(alarms["alarms_begin"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID)
stop = Fiddle::Function.new(alarms["alarms_end"], [], Fiddle::TYPE_LONG)
FUNCTIONS = 24
COUNTS = [0] * FUNCTIONS
FUNCTIONS.times do |number|
  eval <<-METHOD
    def called_#{number}(deep)
      COUNTS[#{number}] += 1
      COUNTS.size
      send(:"called_\#{(#{number} * 7 + deep * 5) % FUNCTIONS}", deep - 1) if deep > 0
    end
  METHOD
end

start.call(60)
ARGV[1].to_i.times { |turn| send(:"called_#{turn % FUNCTIONS}", 12) }
puts "calls on_alarm #{stop.call}"
FUNCTIONS.times { |number| puts "calls called_#{number} #{COUNTS[number]}" }
