"""A Python program that has Ruby executed in its own process, by turns with Python code.

Without a package: libruby, whose path is the argument, is called by ctypes, once a profiler has had the
time to find that there is one.
"""

import ctypes
import sys
import time

RUBY = b"""
class Foo
  def bar(count)
    count.times { |i| i.to_s + "x" }
  end
end

Foo.new.bar(60_000)
"""


def call_ruby(library):
    library.rb_eval_string(RUBY)


def call_python():
    return sum(number * number for number in range(150_000))


def main():
    library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    library.rb_eval_string.restype = ctypes.c_void_p
    library.ruby_init()
    time.sleep(0.5)
    for _ in range(20):
        call_ruby(library)
        call_python()


main()
