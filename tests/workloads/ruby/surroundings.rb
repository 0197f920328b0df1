# What a Ruby program can see of itself and around it: prints it all, a fact in each line.  Nothing of that is
# to be otherwise because it is sampled.

$stdout.sync = true
require "etc"
require "timeout"

def fact(name, value)
  puts "#{name}: #{value.inspect}"
end

def error_of
  yield
rescue SystemCallError => error
  [error.class.name, error.errno]
end

def deepest(depth = 0)
  deepest(depth + 1)
rescue SystemStackError
  depth > 1000
end

def burn
  20_000.times { |number| number.to_s }
end

fact "arguments", [$PROGRAM_NAME == __FILE__, ARGV]
fact "environment", ENV.to_h.reject { |name, _| name =~ /\A(_|SHLVL|OLDPWD|PWD)\z/ }.sort
fact "features", $LOADED_FEATURES.length
fact "threads", Thread.list.map(&:name)
fact "signals", (IO.popen("-") do |child|
  if child.nil?
    (Signal.list.keys.sort - %w[EXIT]).each do |name|
      print name, " ", (trap(name, "DEFAULT").inspect rescue "none"), " "
    end
    exit!(0)
  end
  child.read
end)
fact "descriptors", Dir.children("/proc/self/fd").length
fact "no such file", error_of { File.read("/no such file") }
fact "no child", error_of { Process.wait }
fact "closed pipe", error_of { IO.pipe.yield_self { |from, to| from.close; to.syswrite("x") } }

caught = []
%w[USR1 USR2 PROF TRAP ALRM].each { |name| trap(name) { caught << name } }
%w[USR1 USR2 PROF TRAP ALRM].each do |name|
  Process.kill(name, Process.pid)
  sleep 0.01 until caught.include?(name)
end
fact "caught", caught

begin
  Timeout.timeout(0.05) { sleep }
rescue Timeout::Error => error
  fact "timed out", error.class.name
end
burn
fact "slept", sleep(0.03).class.name
fact "selected", IO.select([IO.pipe.first], nil, nil, 0.03)
fact "read", IO.popen("sleep 0.05; echo done", &:read)
fact "status", [system("exit 3"), $?.exitstatus]
fact "killed", [Process.wait2(fork { Process.kill(:TERM, Process.pid); sleep })[1].termsig]
fact "stack", deepest
fact "queue", Queue.new.yield_self { |queue| Thread.new { burn; queue << 1 }; queue.pop }
fact "condition", [Thread.new { burn; Thread.current[:done] = 1 }.join[:done], Thread.new { raise "x" rescue 2 }.value]
fact "interrupted", (begin
  main = Thread.current
  Thread.new { sleep 0.02; main.raise(Interrupt) }
  sleep
rescue Interrupt => error
  error.class.name
end)
fact "random", Random.new(42).rand(1000)
fact "owner", Etc.getpwuid.uid == Process.uid
at_exit { fact "at exit", $!.class.name }
exit 7
