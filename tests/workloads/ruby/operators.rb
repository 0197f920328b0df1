# Methods that Ruby executes by instructions of their own, without a call and without a frame: phases in
# which one of them takes nearly all of the time, since what it works on is large.
#
# Prints how long each operator, and each method that has it, took.

require_relative "truth"

LETTERS = "abcdefgh" * 8192
SAME_LETTERS = LETTERS.dup << ""
UMLAUTS = "äöü" * 16384
BY_TEXT = { LETTERS => 1, "" => 2 }
NUMBERS = Array.new(20_000) { |number| number }
OTHER_NUMBERS = NUMBERS.dup.push(1)
LARGE = 3**40_000

def string_plus(turns)
  while turns > 0
    LETTERS + LETTERS
    turns -= 1
  end
end

def string_append(turns)
  buffer = +""
  while turns > 0
    buffer << LETTERS
    turns -= 1
  end
end

def string_equal(turns)
  while turns > 0
    LETTERS == SAME_LETTERS
    turns -= 1
  end
end

def string_length(turns)
  while turns > 0
    UMLAUTS.length
    turns -= 1
  end
end

def string_size(turns)
  while turns > 0
    UMLAUTS.size
    turns -= 1
  end
end

def string_succ(turns)
  while turns > 0
    LETTERS.succ
    turns -= 1
  end
end

def string_match(turns)
  text = LETTERS
  while turns > 0
    text =~ /hgf/
    turns -= 1
  end
end

def regexp_match(turns)
  pattern = /hgf/
  while turns > 0
    pattern =~ LETTERS
    turns -= 1
  end
end

def hash_aref(turns)
  by_text = BY_TEXT
  while turns > 0
    by_text[SAME_LETTERS]
    turns -= 1
  end
end

def hash_aset(turns)
  by_text = BY_TEXT
  while turns > 0
    by_text[SAME_LETTERS] = turns
    turns -= 1
  end
end

def array_plus(turns)
  while turns > 0
    NUMBERS + OTHER_NUMBERS
    turns -= 1
  end
end

# What is no small number goes the ordinary way, and has a frame.
def integer_times(turns)
  while turns > 0
    LARGE * LARGE
    turns -= 1
  end
end

# The method, the operator, and turns that take about as long as another's.
PHASES = [
  [:string_plus, "String#+", 12], [:string_append, "String#<<", 24], [:string_equal, "String#==", 60],
  [:string_length, "String#length", 30], [:string_size, "String#size", 30], [:string_succ, "String#succ", 20],
  [:string_match, "String#=~", 4], [:regexp_match, "Regexp#=~", 4], [:hash_aref, "Hash#[]", 20],
  [:hash_aset, "Hash#[]=", 20], [:array_plus, "Array#+", 8], [:integer_times, "Integer#*", 1]
]

def main
  finish = Truth.process_cpu_ns + Truth.budget_ns(2000)
  turn = 0
  while Truth.process_cpu_ns < finish
    turn += 1
    PHASES.each do |method, operator, turns|
      start = Truth.thread_cpu_ns
      __send__(method, Truth.vary(turn, turns, turns))
      spent = Truth.thread_cpu_ns - start
      Truth.add("total", "Object##{method}", spent)
      Truth.add("total", operator, spent)
    end
  end
  Truth.show
end

main
