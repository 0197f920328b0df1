# Runs the program under stackprof: ruby -r FOLDER/under_stackprof.rb PROGRAM
#
# STACKPROF_MODE is wall or cpu, STACKPROF_INTERVAL_US the time between two samples, STACKPROF_OUT the
# file for what it found.

require "stackprof"

StackProf.start(mode: ENV.fetch("STACKPROF_MODE").to_sym, interval: Integer(ENV.fetch("STACKPROF_INTERVAL_US")),
                raw: true)
at_exit do
  StackProf.stop
  File.binwrite(ENV.fetch("STACKPROF_OUT"), Marshal.dump(StackProf.results))
end
