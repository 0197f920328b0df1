# frozen_string_literal: true

# Regions of a program that knows how long it was in each (CPU time, in ms).
require "fathom"

SPENT = Hash.new(0)
TIMES = Hash.new(0)
BURNS = []

def burn(milliseconds, *names)
  BURNS << milliseconds
  finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + milliseconds / 1000.0
  n = 0
  n += 1 while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
  names.each { |name| SPENT[name] += milliseconds }
end

def region(name, &block)
  TIMES[name] += 1
  Fathom.region(name, &block)
end

def entering
  burn 30
  region("load") do
    burn 30, "load"
    region("inner") { burn 30, "load", "inner" }
  end
  burn 30
end

def leaving
  region("left") do
    burn 20, "left"
    raise ArgumentError
  end
rescue ArgumentError
  behind
end

def behind
  burn 20
end

def beside
  burn 20
end

entering
leaving
fiber = Fiber.new do
  region("fiber") do
    burn 20, "fiber"
    Fiber.yield
    burn 20, "fiber"
  end
end
fiber.resume
beside
fiber.resume
value = region("value") { 42 }
raise "the block's value is lost" unless value == 42

is_running = Fathom.running?
burns = BURNS.size
Fathom.pause
burn 50
Fathom.resume
regions = SPENT.map { |name, milliseconds| "\"#{name}\": #{milliseconds}" }.join(", ")
times = TIMES.map { |name, count| "\"#{name}\": #{count}" }.join(", ")
puts "{\"regions\": {#{regions}}, \"times\": {#{times}}, \"burns\": #{burns}, \"paused\": 50, \"is_running\": #{is_running}}"
