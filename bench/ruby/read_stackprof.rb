# Prints what stackprof found as JSON: read_stackprof.rb FILE
#
# Frames are innermost first.

require "json"

found = Marshal.load(File.binread(ARGV.fetch(0)))
raw = found.fetch(:raw, [])
stacks = []
until raw.empty?
  frames, count = raw.shift(raw.shift), raw.shift
  stacks << [frames.reverse.map { |frame| found[:frames][frame].values_at(:file, :name) }, count]
end
puts JSON.generate(samples: found.fetch(:samples), missed: found.fetch(:missed_samples), stacks: stacks)
