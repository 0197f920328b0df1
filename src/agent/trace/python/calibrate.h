/*
 * calibrate - the loops that CPython's calls are calibrated by, and what they show.
 *
 * What a hook costs depends on what stands around the call: what reads and writes can overlap
 * with is not there while there are hooks.  So a kind has loops of more than one shape, most of
 * which use the result, as programs do, and of functions two make objects (numbers beyond 256):
 * their mean is the kind's cost.
 */
#pragma once
#include <stdbool.h>

struct trace_measured;

/* A loop's name, and what it executes. */
#define LOOP_MAP(X)                                                       \
	X(NOTHING, "for i in b:pass")                                     \
	X(WORK_INLINE, "for i in b:\n  y=i+1\n  y=y*3\n  y=y-i\n  y=y^5") \
	X(EMPTY, "for i in b:e()")                                        \
	X(ARGUMENT, "for i in b:a(i)")                                    \
	X(WORK, "for i in b:w(i)")                                        \
	X(RECURSION, "for i in b:r(2)")                                   \
	X(ADD, "y=999\n for i in b:y^=p(i,999)")                          \
	X(NESTED, "y=999\n for i in b:y^=n(i+999)")                       \
	X(THREE, "for i in b:\n  e()\n  a(i)\n  w(i)")                    \
	X(MAP, "for i in map(a,b):pass")                                  \
	X(SORTED, "sorted(b,key=a)")                                      \
	X(GENERATOR, "for i in g():pass")                                 \
	X(DELEGATED, "for i in d():pass")                                 \
	X(SUM, "sum(g())")                                                \
	X(LENGTH, "for i in b:len(b)")                                    \
	X(ABSOLUTE, "for i in b:abs(i)")                                  \
	X(LENGTH_USED, "y=0\n for i in b:y+=len('a')")                    \
	X(ABSOLUTE_USED, "y=0\n for i in k:y^=abs(i)")                    \
	X(ORDINAL_USED, "y=0\n for i in s:y+=ord(i)")                     \
	X(METHOD, "for i in b:i.bit_length()")                            \
	X(METHOD_USED, "for i in k:y=i.bit_length()+i")                   \
	X(APPEND, "l=[]\n for i in b:l.append(i)")                        \
	X(GET, "d={}\n for i in b:d.get(i)")                              \
	X(TWO, "for i in b:\n  len(b)\n  abs(i)")                         \
	X(TWO_METHODS, "l=[]\n for i in b:\n  l.append(i)\n  l.pop()")    \
	X(MAXIMUM, "for i in b:max(i,9)")                                 \
	X(MAXIMUM_USED, "y=0\n for i in b:y+=max(i,9)")                   \
	X(STARTS, "for i in b:s.startswith('a')")                         \
	X(FIND_USED, "y=0\n for i in b:y+=s.find('.')")                   \
	X(TYPE, "for i in b:object()")

enum loop {
#define X(name, body) LOOP_##name,
	LOOP_MAP(X)
#undef X
		LOOP_COUNT,
};

/* What was measured, by loop: for the recorder. */
void trace_calibrate_python_report(const struct trace_measured *measured, bool slows_bytecode);
