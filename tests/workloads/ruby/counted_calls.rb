# Runs a program, with a TracePoint that counts its calls or without, and prints them.
#
#     counted_calls.rb tracepoint|plain PROGRAM
#
# Prints {callee: calls}, or {}.  A method in C is "Owner#method", or "method" where the owner has no
# name that is a constant's; one in Ruby is "file:line", by where it is defined.  The program's calls
# are those below run_counted(), in the thread and the fiber that runs it.
require "csv"
require "erb"
require "json"
require "optparse"
require "set"
require "strscan"
require "time"

def run_counted(program)
  load(program)
end

def name_of(owner, id)
  text = owner.inspect
  text = text =~ /\A#<Class:(.*)>\z/ ? "#{$1}." : "#{owner.name}#"
  text =~ /\A[A-Z]\w*(::[A-Z]\w*)*[.#]\z/ ? "#{text}#{id}" : id.to_s
end

how, program = ARGV.shift(2)
counts = Hash.new(0)
if how == "tracepoint"
  fiber = Fiber.respond_to?(:current) ? Fiber.current : nil
  trace = TracePoint.new(:call, :c_call) do |point|
    next unless fiber.nil? || Fiber.current.equal?(fiber)

    counts[point.event == :call ? [point.path, point.lineno] : [point.defined_class, point.method_id]] += 1
  end
  trace.enable { run_counted(program) }
else
  run_counted(program)
end
named = Hash.new(0)
counts.each do |(owner, id), calls|
  named[owner.is_a?(String) ? "#{owner}:#{id}" : name_of(owner, id)] += calls
end
puts JSON.generate(named)
