# frozen_string_literal: true

# fathom - what a program can say to the profiler that it runs under.
#
#     require "fathom"
#
#     Fathom.region("load") { load_it }
#
#     Fathom.pause        # nothing is recorded from here
#     Fathom.resume       # to here
#
# Reports have a row "[region load]" then, inside of the method that began the region and outside of what it calls, and
# `fathom report --by region` adds up by regions.
#
# A program that does not run under fathom has methods that do nothing; nothing is looked for but once, when
# this is required, and nothing that is done here raises an exception.  This file is all there is to it, for Ruby 2.7
# and later: copy it to where the program finds it.  docs/control.md says more.
module Fathom
  # The profiler in this process, which has methods in C for us, or nil.
  def self.find_agent
    path = File.foreach("/proc/self/maps").find { |line| line.include?("/libfathom-agent") }&.split(" ", 6)&.last&.chomp
    return nil unless path && RUBY_ENGINE == "ruby"

    require path
    defined?(::FathomAgent) ? ::FathomAgent : nil
  rescue StandardError, LoadError
    nil
  end
  private_class_method :find_agent

  AGENT = find_agent
  private_constant :AGENT

  if AGENT
    # The block is executed in the region, and its value is returned.
    def self.region(name)
      text = name.to_s.delete("\0")
      AGENT.begin_region(text)
      begin
        yield
      ensure
        AGENT.end_region(text)
      end
    end

    # Nothing is recorded of this process any more, on any thread, until it is resumed.
    def self.pause
      AGENT.pause
      nil
    end

    # Ends any number of pauses.
    def self.resume
      AGENT.resume
      nil
    end

    # Whether this process is being recorded, and not paused.
    def self.running?
      AGENT.running? ? true : false
    end
  else
    def self.region(_name)
      yield
    end

    def self.pause; end

    def self.resume; end

    def self.running?
      false
    end
  end
end
