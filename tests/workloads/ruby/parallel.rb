# Threads that compress with the GVL released, beside the main thread that holds it and computes: each is
# busy on its own.

require "digest"
require "zlib"
require_relative "truth"

WORDS = (1..40_000).map { |number| (number * 2_654_435_761 % 1_000_003).to_s(36) }.join(" ")

def first_compress(turns)
  turns.times { Zlib::Deflate.deflate(WORDS, 6) }
end

def second_compress(turns)
  (2 * turns).times { Zlib::Deflate.deflate(WORDS, 6) }
end

def compute(finish)
  sum = 0
  while Truth.thread_cpu_ns < finish
    100.times { |number| sum += number }
  end
  sum
end

# With the GVL, in an extension.
def digest(finish)
  Digest::SHA256.hexdigest(WORDS) while Truth.thread_cpu_ns < finish
end

def measure(name)
  start = Truth.thread_cpu_ns
  yield start
  Truth.add("total", "Object##{name}", Truth.thread_cpu_ns - start)
end

budget_ns = Truth.budget_ns(2000)
turns = budget_ns / 80_000_000
workers = %i[first_compress second_compress].map do |name|
  Thread.new do
    Thread.current.name = name.to_s
    measure(name) { __send__(name, turns) }
    Truth.add("threads", name.to_s, Truth.thread_cpu_ns)
  end
end
measure(:compute) { |start| compute(start + budget_ns / 4) }
measure(:digest) { |start| digest(start + budget_ns / 8) }
workers.each(&:join)
Truth.add("total", "Zlib::Deflate.deflate",
          %w[Object#first_compress Object#second_compress].sum { |name| Truth::FACTS["total"][name] })
Truth.show
