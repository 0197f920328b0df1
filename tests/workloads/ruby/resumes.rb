# frozen_string_literal: true

# A program that wants to be recorded from a certain point on.
require "fathom"

def burn
  finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.02
  n = 0
  n += 1 while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
end

def before
  burn
end

def behind
  burn
end

def main
  is_running = [Fathom.running?]
  5.times { before }
  Fathom.resume
  is_running << Fathom.running?
  5.times { behind }
  puts "{\"is_running\": #{is_running}}"
end

main
