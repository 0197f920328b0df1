# The same work each time, in turns: a loop without calls, calls of small methods, recursion, methods in C.

def loops(units)
  done = 0
  done += 1 while done < 40 * units
  done
end

def small(number)
  rest = number & 7
  rest += 1 while rest < 40
  rest
end

def calls(units)
  total = 0
  number = 0
  while number < units
    total += small(number)
    number += 1
  end
  total
end

def descent(depth)
  depth.zero? ? 0 : descent(depth - 1) + small(depth)
end

def recursion(units)
  rounds = units / 50
  total = 0
  while rounds > 0
    total += descent(50)
    rounds -= 1
  end
  total
end

def builtins(units)
  numbers = Array.new(units * 4, 7)
  numbers.sort.join(",").length + numbers.sum
end

ARGV[0].to_i.times do |turn|
  units = 1000 + turn * 37 % 500
  loops(units)
  calls(units)
  recursion(units)
  builtins(units)
end
