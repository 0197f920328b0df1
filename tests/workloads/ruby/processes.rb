# A parent that works and children that work, by each way Ruby has to make them.
#
#     processes.rb fork|spawn|backticks|system|popen|exec|prefork|threads
#
# Prints how long child_work and parent_work ran in all processes together.

require "rbconfig"
require "socket"

CHILDREN = 3
CHILD_NS = 200_000_000
REQUESTS = 6
REQUEST_NS = 100_000_000
THREADS = 200
THREAD_NS = 3_000_000

def thread_cpu_ns
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def burn(spent_ns)
  finish = thread_cpu_ns + spent_ns
  nil while thread_cpu_ns < finish
end

def child_work(spent_ns)
  burn(spent_ns)
end

def parent_work(spent_ns)
  burn(spent_ns)
end

def child_command(*arguments)
  [RbConfig.ruby, __FILE__, "as-child", *arguments]
end

def with_fork
  CHILDREN.times { fork { child_work(CHILD_NS) } }
  parent_work(CHILD_NS)
  Process.waitall
  CHILDREN * CHILD_NS
end

def with_spawn
  CHILDREN.times { spawn(*child_command) }
  parent_work(CHILD_NS)
  Process.waitall
  CHILDREN * CHILD_NS
end

def with_backticks
  CHILDREN.times { raise "no child" unless `#{child_command("says").join(" ")}` == "worked\n" }
  parent_work(CHILD_NS)
  CHILDREN * CHILD_NS
end

def with_system
  CHILDREN.times { system(*child_command, exception: true) }
  parent_work(CHILD_NS)
  CHILDREN * CHILD_NS
end

def with_popen
  children = Array.new(CHILDREN) { IO.popen(child_command("says")) }
  parent_work(CHILD_NS)
  children.each { |child| raise "no child" unless child.read == "worked\n" }
  children.each(&:close)
  CHILDREN * CHILD_NS
end

def with_exec
  parent_work(CHILD_NS)
  $stdout.flush
  exec(*child_command("prints"))
end

# A worker of a prefork server: one request after the other, until one says so.
def serve(listener)
  loop do
    connection = listener.accept
    asked = connection.gets.chomp
    child_work(REQUEST_NS) if asked == "work"
    connection.puts("done")
    connection.close
    exit!(0) if asked == "end"
  end
end

def ask(port, what)
  TCPSocket.open("127.0.0.1", port) do |connection|
    connection.puts(what)
    connection.gets
  end
end

def with_prefork
  listener = TCPServer.new("127.0.0.1", 0)
  CHILDREN.times { fork { serve(listener) } }
  parent_work(CHILD_NS)
  REQUESTS.times { ask(listener.addr[1], "work") }
  CHILDREN.times { ask(listener.addr[1], "end") }
  Process.waitall
  REQUESTS * REQUEST_NS
end

# By the hundred, and children of fork in between.
def with_threads
  threads = Array.new(THREADS) { Thread.new { child_work(THREAD_NS) } }
  child = fork { child_work(CHILD_NS) }
  parent_work(CHILD_NS)
  threads.each(&:join)
  Process.wait(child)
  THREADS * THREAD_NS + CHILD_NS
end

def print_child(child_ns)
  puts %({"child_work": #{child_ns}, "parent_work": #{CHILD_NS}})
end

def main
  case ARGV[0]
  when "as-child"
    child_work(CHILD_NS)
    puts "worked" if ARGV[1] == "says"
    print_child(CHILD_NS) if ARGV[1] == "prints"
  else
    print_child(__send__("with_#{ARGV[0]}"))
  end
end

main
