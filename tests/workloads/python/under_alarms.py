"""Calls Python functions while a library's signal handler interrupts them: prints how often which was called."""

import ctypes
import sys

alarms = ctypes.CDLL(sys.argv[1])
alarms.alarms_end.restype = ctypes.c_long
FUNCTIONS = 24
TURNS = int(sys.argv[2])
counts = [0] * FUNCTIONS
made = []
for number in range(FUNCTIONS):
    space = {"counts": counts, "made": made, "len": len}
    exec("def called_%d(deep):\n counts[%d] += 1\n len(made)\n if deep: made[(%d * 7 + deep * 5) %% %d](deep - 1)"
         % (number, number, number, FUNCTIONS), space)
    made.append(space["called_%d" % number])

alarms.alarms_begin(60)
for turn in range(TURNS):
    made[turn % FUNCTIONS](12)
print("calls on_alarm", alarms.alarms_end())
for number in range(FUNCTIONS):
    print("calls called_%d %d" % (number, counts[number]))
