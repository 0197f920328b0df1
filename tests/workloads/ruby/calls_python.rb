# calls_python - a Ruby program that has Python executed in its own process, by turns with Ruby code.
#
# Without a gem: libpython, whose path is the argument, is called by Fiddle.  Prints what each took, once a
# profiler has had the time to find that there is a libpython.

require "fiddle"
require_relative "truth"

class Bridge
  PYTHON = "def f(n):\n    return sum(i * i for i in range(n))\n\nf(%d)\n"

  def initialize(path)
    @library = Fiddle.dlopen(path)
    function("Py_Initialize").call
    @run = function("PyRun_SimpleString", Fiddle::TYPE_VOIDP)
  end

  def function(name, *arguments)
    Fiddle::Function.new(@library[name], arguments, Fiddle::TYPE_INT)
  end

  def python(count)
    @run.call(format(PYTHON, count))
  end

  def ruby(count)
    count.times { |i| i.to_s + "x" }
  end

  def timed(name, count)
    before = Truth.thread_cpu_ns
    public_send(name, count)
    Truth.add("total", "Bridge##{name}", Truth.thread_cpu_ns - before)
  end
end

bridge = Bridge.new(ARGV.fetch(0))
sleep 0.5
20.times do
  bridge.timed(:python, 600_000)
  bridge.timed(:ruby, 60_000)
end
Truth.show
