# Run by any CRuby from 2.7 on: compares its own objects with a layout that read_ruby printed.
#
# Prints a sentence for each thing that is not where the layout says, and in the end how many things were
# compared.  A line "operator INSTRUCTION NAME" of the layout says what an instruction does.
#
# usage: probe_ruby_layout.rb LAYOUT
require 'objspace'

NONE = 0xffff
WORD = 8
AT = Hash.new { |_, name| raise "the layout has no #{name}" }
OPERATORS = Hash.new('NONE')
LABELS = []
$compared = []

File.foreach(ARGV[0]) do |line|
  name, *values = line.split
  case name
  when 'file', 'version', 'why_not', 'loop' then next
  when 'label' then LABELS << [values[0].to_i, values[1]]
  when 'operator' then OPERATORS[values[0]] = values[1]
  when 'core' then AT[name] = values[0].to_i unless AT.key?(name)
  else AT[name.to_sym] = values[0].to_i
  end
end
CORE = AT['core']

MEMORY = File.open('/proc/self/mem', 'rb')

def bytes(address, length)
  MEMORY.pread(length, address)
rescue Errno::EIO
  raise "nothing is at #{address.to_s(16)}"
end

def word(address)
  bytes(address, WORD).unpack1('Q')
end

def integer(address)
  bytes(address, 4).unpack1('l')
end

def address_of(object)
  ObjectSpace.dump(object)[/"address":"(0x\h+)"/, 1].hex
end

def text(string)
  flags = word(string)
  heap = flags[13] == 1
  length = AT[:text_length_in_flags] == 1 && !heap ? flags >> 14 & 0x1f : word(string + AT[:text_length])
  bytes(heap ? word(string + AT[:text_pointer]) : string + AT[:text_embedded], length)
end

def element(array, index)
  first = word(array)[13] == 1 ? array + AT[:array_embedded] : word(array + AT[:array_pointer])
  word(first + index * WORD)
end

def same(what, got, wanted)
  $compared << what
  puts "#{what}: #{got.inspect} instead of #{wanted.inspect}" if got != wanted
end

def has?(field)
  AT[field] != NONE
end

def mappings
  File.readlines('/proc/self/maps').map do |line|
    range, permissions, offset, _, _, path = line.split(' ', 6)
    [*range.split('-').map(&:hex), permissions, offset.hex, path.to_s.strip]
  end
end

def mapping_of(address)
  mappings.find { |first, last| first <= address && address < last }
end

def is_iseq(object)
  object != 0 && (word(object) & 0xf01f) == 0x701a
end

# The object behind an InstructionSequence: up to 3.3 its data, then what its data points to.
def iseq_of(wrapper)
  data = word(address_of(wrapper) + AT[:typed_data])
  is_iseq(data) ? data : word(data)
end

def body_of(iseq)
  word(iseq + AT[:iseq_body])
end

def path_of(body)
  path = word(body + AT[:body_path])
  text((word(path) & 0x1f) == 7 ? element(path, 0) : path)
end

# From rb_symbols_t, where every ID has its name.
def name_of(id)
  serial = id > AT[:last_operator_id] ? id >> 4 : id
  ids = word(AT[:symbols] + LIBRARY + AT[:symbols_ids])
  text(element(element(ids, serial / 512), serial % 512 * 2))
end

module Outer
  class Probe
    attr_reader :seen

    def plain(value)
      first = value + 1
      @seen = [1, 2].each { |each| first += each }
      first
    end

    def self.single
      1
    end

    def caller_of(other)
      other.plain(3)
    end

    # Stands on the stack while the frames are read.
    def outer(context)
      inner { ControlFrames.new(context).compare(caller_locations(0)) }
    end

    def inner
      yield
    ensure
      @seen = nil
    end
  end
end

module Refining
  REFINEMENT = refine(String) {}
end

# Where the file with the interpreter is mapped.
LIBRARY = begin
  mappings.find { |*, path| path == ENV.fetch('PROBED_FILE') }[0] * ENV.fetch('PROBED_IS_MOVED').to_i
end

# The frames of the thread that asks, from the one that reads them outwards.
class ControlFrames
  def initialize(context)
    @context = context
  end

  def compare(locations)
    stack = word(@context + AT[:ec_stack])
    stack_end = stack + word(@context + AT[:ec_stack_size]) * WORD
    frame = word(@context + AT[:ec_frame])
    same('the innermost frame is on the stack', frame.between?(stack, stack_end), true)
    labels = []
    while frame < stack_end - AT[:frame_size]
      compare_frame(frame, labels)
      frame += AT[:frame_size]
    end
    same('the outermost frame ends the stack', frame <= stack_end, true)
    # What runs between here and outer() differs by version: it is the outer frames that are known.
    wanted = locations.map(&:base_label)
    same('base labels of the frames', labels.last(wanted.size), wanted)
  end

  def compare_frame(frame, labels)
    iseq = word(frame + AT[:frame_iseq])
    environment = word(frame + AT[:frame_ep])
    return unless is_iseq(iseq)
    body = body_of(iseq)
    label = text(word(body + AT[:body_base_label]))
    labels << label
    return unless label == 'outer' && integer(body + AT[:body_type]) == 1

    encoded = word(body + AT[:body_encoded])
    size = integer(body + AT[:body_size])
    same('frame_pc', word(frame + AT[:frame_pc]).between?(encoded, encoded + size * WORD), true)
    same('frame_sp', word(frame + AT[:frame_sp]) > environment, true)
    same('frame_self', word(frame + AT[:frame_self]), address_of(PROBE))
    same('frame_ep', word(environment) & 0x7fff0001, 0x11110001)
    same('frame_jit_return', word(frame + AT[:frame_jit_return]), 0) if has?(:frame_jit_return)
    compare_method(word(environment - 2 * WORD), iseq)
  end

  def compare_method(entry, iseq)
    same('method entry', word(entry) & 0xf01f, 0x601a)
    definition = word(entry + AT[:method_definition])
    same('definition_iseq', word(definition + AT[:definition_iseq]), iseq)
    same('method_owner', word(entry + AT[:method_owner]), address_of(Outer::Probe))
    same('method_called_id', name_of(word(entry + AT[:method_called_id])), 'outer')
    same('definition_id', name_of(word(definition + AT[:definition_id])), 'outer')
  end
end

PROBE = Outer::Probe.new

def compare_strings
  same('text embedded', text(address_of('short'.dup)), 'short')
  same('text on the heap', text(address_of('long ' * 200)), 'long ' * 200)
  numbers = (1..300).to_a
  same('array embedded', element(address_of([7, 8]), 1), 8 * 2 + 1)
  same('array on the heap', element(address_of(numbers), 299), 300 * 2 + 1)
end

def compare_iseq(iseq, wrapper, type)
  body = body_of(iseq)
  same('body_type', integer(body + AT[:body_type]), type)
  same('body_base_label', text(word(body + AT[:body_base_label])), wrapper.base_label)
  same('body_label', text(word(body + AT[:body_label])), wrapper.label)
  same('body_path', path_of(body), wrapper.path)
  line = AT[:first_line_is_value] == 1 ? word(body + AT[:body_first_line]) >> 1 : integer(body + AT[:body_first_line])
  same('body_first_line', line, wrapper.first_lineno)
  # The last instruction is a leave, of one word.
  listed = own_part(wrapper.disasm).scan(/^(\d{4}) (\w+)/)
  same('body_size', integer(body + AT[:body_size]), listed.last[0].to_i + 1)
  compare_lines(body, wrapper)
end

# Less what is listed behind it of the blocks in it.
def own_part(listing)
  listing.split(/^== disasm/)[1]
end

def compare_lines(body, wrapper)
  count = integer(body + AT[:body_line_count])
  entries = word(body + AT[:body_lines])
  lines = (0...count).map { |index| integer(entries + index * AT[:line_size]) }
  listed = own_part(wrapper.disasm).scan(/^\d{4} .*?\( *(\d+)\)/).flatten.map(&:to_i)
  # 0: instructions that are on no line, up to 3.0.
  same('body_lines', lines.uniq.sort - [0], listed.uniq.sort)
  positions = word(body + AT[:body_line_positions])
  index = word(body + AT[:body_line_index])
  same('positions or an index', positions != 0 || index != 0, true)
  mapping = mapping_of(index)
  same('body_line_index', index % WORD == 0 && !mapping.nil?, true)
end

def compare_iseqs
  wrapper = RubyVM::InstructionSequence.of(PROBE.method(:plain))
  method = iseq_of(wrapper)
  compare_iseq(method, wrapper, 1)
  same('body_local of a method', word(body_of(method) + AT[:body_local]), method)
  same('body_parent of a method', word(body_of(method) + AT[:body_parent]), 0)
  inside = nil
  wrapper.each_child { |child| inside = child }
  block = iseq_of(inside)
  compare_iseq(block, inside, 2)
  same('body_local of a block', word(body_of(block) + AT[:body_local]), method)
  same('body_parent of a block', word(body_of(block) + AT[:body_parent]), method)
end

def compare_thread
  thread = word(address_of(Thread.current) + AT[:typed_data])
  same('thread_self', word(thread + AT[:thread_self]), address_of(Thread.current))
  context = word(thread + AT[:thread_ec])
  same('ec_thread', word(context + AT[:ec_thread]), thread)
  same('ec_stack_size', word(context + AT[:ec_stack_size]) * WORD, RubyVM::DEFAULT_PARAMS[:thread_vm_stack_size])
  start = word(context + AT[:ec_machine_start])
  same('ec_machine_start', mapping_of(start - 1)&.last, '[stack]')
  same('ec_machine_max', word(context + AT[:ec_machine_max]).between?(1 << 16, Process.getrlimit(:STACK)[0]), true)
  compare_names(thread)
  compare_vm(word(thread + AT[:thread_vm]), thread)
  context
end

def compare_names(thread)
  Thread.current.name = 'a name'
  same('thread_name', text(word(thread + AT[:thread_name])), 'a name')
  other = Thread.new { Thread.stop }
  Thread.pass until other.stop?
  same('thread_name of none', word(word(address_of(other) + AT[:typed_data]) + AT[:thread_name]), AT[:nil])
  return unless has?(:thread_pthread)

  # The C library begins its descriptor of a thread with its own address.
  pthread = word(thread + AT[:thread_pthread])
  same('thread_pthread', word(pthread), pthread)
ensure
  other.kill.join
end

DONT_COLLECT = 3 # the flag's bit

def compare_vm(vm, thread)
  same('vm', word(AT[:vm] + LIBRARY), vm) unless AT[:vm].zero?
  space = word(vm + AT[:vm_objspace])
  flags = space + AT[:objspace_flags]
  same('objspace_flags', integer(flags)[DONT_COLLECT], 0)
  GC.disable
  same('objspace_flags with a disabled collector', integer(flags)[DONT_COLLECT], 1)
  same('objspace_count', word(space + AT[:objspace_count]), GC.count) if has?(:objspace_count)
  GC.enable
  same('vm_shapes', mapping_of(word(vm + AT[:vm_shapes])).nil?, false) if has?(:vm_shapes)
  return unless has?(:vm_threads)

  same('vm_threads', word(vm + AT[:vm_threads]) - AT[:thread_link], thread)
end

def compare_singleton(singleton)
  same('singleton_flag', word(address_of(singleton))[AT[:singleton_flag]], 1)
  same('singleton_flag of another', word(address_of(Outer::Probe))[AT[:singleton_flag]], 0)
  return unless has?(:ext_attached)

  same('ext_attached', word(extension_of(singleton) + AT[:ext_attached]), address_of(Outer::Probe))
end

def extension_of(type)
  place = address_of(type) + AT[:class_ext]
  AT[:class_ext_is_pointer] == 1 ? word(place) : place
end

# st.h: num_entries at 16, entries_bound at 40, entries at 48, of a hash, a key and a value each.
def table_values(table)
  entries = word(table + 48)
  (0...word(table + 40)).map { |index| [word(entries + index * 24 + 8), word(entries + index * 24 + 16)] }
end

def compare_classes
  compare_singleton(Outer::Probe.singleton_class)
  extension = extension_of(Outer::Probe)
  if has?(:ext_classpath)
    same('ext_classpath', text(word(extension + AT[:ext_classpath])), 'Outer::Probe')
  elsif has?(:ext_table)
    attached = table_values(word(extension_of(Outer::Probe.singleton_class) + AT[:ext_table]))
    same('ext_table', attached.map { |id, value| [name_of(id), value] },
         [['__attached__', address_of(Outer::Probe)]])
    named = table_values(word(extension + AT[:ext_table])).map { |id, value| [name_of(id), text(value)] }
    same('ext_table of a named class', named, [['__classpath__', 'Outer::Probe']])
  else
    same('ext_variables', text(word(word(extension + AT[:ext_variables]))), 'Outer::Probe')
  end
  same('refinement_class', word(address_of(Refining::REFINEMENT) + AT[:refinement_class]), address_of(String))
  %w[Integer String NilClass].each do |name|
    same("class_#{name}", word(AT[:"class_#{name}"] + LIBRARY), address_of(Object.const_get(name)))
  end
end

def compare_call
  3.times { PROBE.caller_of(PROBE) }
  wrapper = RubyVM::InstructionSequence.of(PROBE.method(:caller_of))
  at = wrapper.disasm[/^(\d{4}) opt_send_without_block/, 1].to_i
  data = word(word(body_of(iseq_of(wrapper)) + AT[:body_encoded]) + (at + 1) * WORD)
  cache = has?(:call_data_cache) ? word(data + AT[:call_data_cache]) : data
  same('cache_class', word(cache + AT[:cache_class]), address_of(Outer::Probe)) if has?(:cache_class)
  entry = word(cache + AT[:cache_method])
  same('cache_method', word(entry + AT[:method_owner]), address_of(Outer::Probe))
  same('the method of cache_method', name_of(word(entry + AT[:method_called_id])), 'plain')
end

CODE = <<~'RUBY'
  def all(a, b, c, *rest, &block)
    x = [a + b, a - b, a * b, a / b, a % b, a == b, a != b, a < b, a <= b, a > b, a >= b, a << b, a & b, a | b]
    x << a[b]; a[b] = c; a['text']; a['text'] = c
    [a.length, a.size, a.empty?, a.succ, !a, a.nil?, a =~ b, 'frozen'.freeze, -'text']
    [[a, b].max, [a, b].min, "#{a} #{b}", { a => b, **c }, (a..b), [*a, *b], :"#{a}"]
    case a when 1, 2 then b when String then c end
    begin yield a; rescue ArgumentError => error; raise; ensure @a = @@b = $c; end
    block.call(a, *rest) if defined?(Foo) && Foo::BAR
    super
    while a do a = b; next if c; break end
    a, (b, *c) = rest; a ||= b&.call; send(:x, a) { |each| each + 1 }
    x
  end
  class Inner; end
RUBY

def compare_instructions(wrapper)
  encoded = word(body_of(iseq_of(wrapper)) + AT[:body_encoded])
  own_part(wrapper.disasm).scan(/^(\d{4}) (\w+)/) do |place, name|
    label = word(encoded + place.to_i * WORD) - LIBRARY - CORE
    $named[label] = [*$named[label], name].uniq
  end
  wrapper.each_child { |child| compare_instructions(child) }
end

def compare_labels
  $named = {}
  compare_instructions(RubyVM::InstructionSequence.compile(CODE))
  compare_instructions(RubyVM::InstructionSequence.compile_file(__FILE__))
  operators = LABELS.to_h
  $named.each do |label, names|
    same("instructions that are at #{label}", names.size, 1)
    # Instructions that share their code have what both do.
    same(names[0], operators.fetch(label, 'no instruction'), OPERATORS[names[0]])
  end
  same('instructions seen', $named.size > 60, true)
end

compare_strings
compare_iseqs
PROBE.outer(compare_thread)
compare_classes
compare_call
compare_labels
puts "#{$compared.size} compared"
