# known_waits - threads that wait, each for one thing (alone), that hold the GVL in turn (gvl), or a Mutex (lock).
#
# usage: known_waits.rb alone|gvl|lock SECONDS FILE
#
# Prints what is true, as JSON: of each thread how long it lived, ran, was runnable, and waited in which state; of
# the four with the GVL and the four with the Mutex, which waited for how long while which one held it, and how long
# the latter slept at least, without waits for the GVL.  FILE is made.
require "json"

KIND, SECONDS, PATH = ARGV[0], ARGV[1].to_f, ARGV[2]
FILE_BYTES, BLOCK_BYTES = 8 << 20, 256 << 10
$lives, $spans, $turns, $until = {}, {}, {}, 0.0
$mutex, $queue = Mutex.new, Queue.new
$pipe_out, $pipe_in = IO.pipe
$quiet, _open = IO.pipe
$forked = 0

def wall_ns
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def cpu_ns
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

# Time on the wall, less what the thread ran and was runnable.
class Meter
  def initialize
    @file = File.open("/proc/thread-self/schedstat")
    @began = wall_ns
  end

  def delay_ns
    @file.pread(96, 0).split[1].to_i
  end

  # In one order at both ends: a read of schedstat may wait for the GVL, and for a CPU.
  def begin
    @cpu, @wall = cpu_ns, wall_ns
    @delay = delay_ns
  end

  # A wait for the GVL behind it is a part.
  def waited
    cpu, wall = cpu_ns - @cpu, wall_ns - @wall
    [0, wall - cpu - (delay_ns - @delay)].max
  end

  # All that the thread neither ran nor was runnable is what it waited for.
  def book(name, state)
    life, ran, delayed = wall_ns - @began, cpu_ns, delay_ns
    $lives[name] = { "life" => life, "running" => ran, "runnable" => delayed, state => [0, life - ran - delayed].max }
  end
end

def sleeps(_number)
  sleep 0.005
end

def reads_pipe(_number)
  $pipe_out.readpartial(1)
end

def pops(_number)
  $queue.pop
end

def selects(_number)
  IO.select([$quiet], nil, nil, 0.03)
end

def syncs(number)
  $synced.pwrite("x" * 64, number % 64)
  $synced.fsync
end

# fork itself waits for locks of Ruby's.
def waits_for_child(_number)
  meter = Thread.current[:meter]
  meter.begin
  child = fork do
    sleep 0.04
    exit!
  end
  $forked += meter.waited
  Process.wait(child)
end

def live(name, state, wait)
  Thread.current.name = name
  meter, number = Meter.new, 0
  Thread.current[:meter] = meter
  while wall_ns < $until
    send(wait, number)
    number += 1
  end
  meter.book(name, state)
  $lives[name]["unknown"] = $forked if name == "child"
end

# One call into C after the other, of some 8, 4, 2 and 1 ms, that keep the GVL until they return.
def holds_gvl(name, number)
  Thread.current.name = name
  meter, began, mine = Meter.new, wall_ns, []
  numbers = [1.5] * (1_200_000 >> number)
  while wall_ns < $until
    from = wall_ns
    numbers.sum
    mine << [from, wall_ns]
    Thread.pass
  end
  meter.book(name, "gvl")
  $turns[name] = [began, mine, wall_ns]
end

# Where a call returns, the GVL may pass to another thread before the clock is read: a turn is what comes before the
# first reading of another thread between the two, or behind the last one.
def turns_of(mine, others)
  mine.map do |from, to|
    met = others.bsearch_index { |at| at > from } || others.size
    met = others[met..-1].take_while { |at| at < to }
    met.empty? ? [from, to] : [[from, met[0]], [met[-1], to]].max_by { |a, b| b - a }
  end
end

def find_turns
  $turns.each do |name, (began, mine, ended)|
    others = $turns.reject { |other,| other == name }.values.flat_map { |_, turns, _| turns.flatten }.sort
    turns = turns_of(mine, others)
    # Before its turns, between them and after the last one it wants it.
    $spans[name] = [turns, [began, *turns.flatten, ended].each_slice(2).to_a]
  end
end

def holds_mutex(name, number)
  Thread.current.name = name
  meter, mine, wanted, slept, locked, least = Meter.new, [], [], 0, 0, 0
  while wall_ns < $until
    wanting = wall_ns
    meter.begin
    $mutex.lock
    locked += meter.waited
    from = wall_ns
    meter.begin
    sleep 0.008 / (1 << number)
    slept += meter.waited
    least += (8_000_000 >> number) + 1_000_000
    mine << [from, wall_ns]
    $mutex.unlock
    wanted << [wanting, from]
    meter.begin
    sleep 0.001
    slept += meter.waited
  end
  meter.book(name, "sleep")
  $lives[name].update("sleep" => slept, "lock" => locked, "least" => { "sleep" => least })
  $spans[name] = [mine, wanted]
end

def feed
  while wall_ns < $until
    sleep 0.021
    $pipe_in.write("x")
    $queue << 1
  end
  # The reader and the one at the queue may be in their last waits.
  $pipe_in.write("x")
  $queue << 1
end

def together(*calls)
  $until = wall_ns + (SECONDS * 1e9).to_i
  threads = calls.map { |call| Thread.new { send(*call) } }
  yield if block_given?
  threads.each(&:join)
end

def common(waits, holds)
  both = first = 0
  waits.each do |from, to|
    first += 1 while first < holds.size && holds[first][1] <= from
    at = first
    while at < holds.size && holds[at][0] < to
      both += [0, [to, holds[at][1]].min - [from, holds[at][0]].max].max
      at += 1
    end
  end
  both
end

$synced = File.open(PATH, "w+b")
$synced.write("\0" * FILE_BYTES)
$synced.fsync
case KIND
when "alone"
  together([:live, "sleep", "sleep", :sleeps], [:live, "pipe", "io", :reads_pipe], [:live, "queue", "lock", :pops],
           [:live, "select", "io", :selects], [:live, "fsync", "io", :syncs],
           [:live, "child", "wait", :waits_for_child]) { feed }
when "gvl"
  together(*(0..3).map { |i| [:holds_gvl, "gvl-#{i}", i] })
  find_turns
when "lock"
  together(*(0..3).map { |i| [:holds_mutex, "mutex-#{i}", i] })
end
pairs = $spans.to_h do |one, (_, wanted)|
  others = $spans.keys - [one]
  [one, others.to_h { |other| [other, common(wanted, $spans[other][0])] }]
end
puts JSON.generate("interrupted" => 0, "threads" => $lives, "pairs" => pairs)
