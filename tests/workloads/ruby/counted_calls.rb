# Runs a program, with a TracePoint or ruby-prof that counts its calls or without, and prints them.
#
#     counted_calls.rb tracepoint|ruby-prof|plain PROGRAM
#
# Prints {"calls": {callee: calls}, "as_one": lists of callees that the counter cannot distinguish}; plain
# counts nothing.  A method in C is "Owner#method", or "method" where the owner has no name that is a
# constant's; one in Ruby is "file:line", by where it is defined.  The program's calls are those below
# run_counted(), in the thread and the fiber that runs it.
require "csv"
require "erb"
require "json"
require "optparse"
require "set"
require "strscan"
require "time"

CONSTANT = /[A-Z]\w*(?:::[A-Z]\w*)*/

def run_counted(program)
  load(program)
end

def name_of(owner, id)
  text = owner.inspect
  text = text =~ /\A#<Class:(.*)>\z/ ? "#{$1}." : "#{owner.name}#"
  text =~ /\A#{CONSTANT}[.#]\z/ ? "#{text}#{id}" : id.to_s
end

# An alias is called by its own name there, and by the method's here.
def original_name(owner, id)
  Object.const_get(owner).instance_method(id).original_name
rescue NameError
  id
end

# ruby-prof has "Owner#method" and "<Class::Owner>#method".
def name_in_ruby_prof(method)
  return "#{method.source_file}:#{method.line}" unless method.source_file.nil?

  owner, _, id = method.full_name.rpartition("#")
  return "#{$1}.#{id}" if owner =~ /\A<(?:Class|Module)::(#{CONSTANT})>\z/

  owner =~ /\A#{CONSTANT}\z/ ? "#{owner}##{original_name(owner, id)}" : id
end

def count_by_ruby_prof(program)
  require "ruby-prof"
  counts = Hash.new(0)
  RubyProf.profile { run_counted(program) }.threads.each do |thread|
    # It has the caller of the block as well.
    methods = thread.methods.reject { |method| method.method_name == __method__ }
    methods.each { |method| counts[name_in_ruby_prof(method)] += method.called }
  end
  counts
end

# Its key of a method is (class << 4) + symbol, both as Ruby has them in memory, and addresses are others in
# each run (ext/ruby_prof/rp_method.c, 1.4).
def as_one_in_ruby_prof
  require "fiddle"
  callees = Hash.new { |hash, key| hash[key] = [] }
  ObjectSpace.each_object(Module) do |owner|
    (owner.instance_methods(false) + owner.private_instance_methods(false)).each do |id|
      method = owner.instance_method(id)
      place = method.source_location
      name = place.nil? ? name_of(owner, method.original_name) : place.join(":")
      callees[(Fiddle.dlwrap(owner) << 4) + Fiddle.dlwrap(id)] |= [name]
    end
  end
  callees.values.select { |names| names.size > 1 }
end

how, program = ARGV.shift(2)
if how == "ruby-prof"
  puts JSON.generate("calls" => count_by_ruby_prof(program), "as_one" => as_one_in_ruby_prof)
  exit
end
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
puts JSON.generate("calls" => named, "as_one" => [])
