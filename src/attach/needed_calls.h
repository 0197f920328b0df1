/*
 * needed_calls - the system calls that attaching, and then the agent, make in a process.
 *
 * Under a seccomp filter each must be known to be allowed, with the arguments that matter: a
 * forbidden one may end the process.  A call that is added to the stub, to the libc functions it
 * calls, or to the agent (except those it makes in place of the program's own) needs a row here.
 * A live test kills a process at any call that is missing.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Which filter results are acceptable besides allowing the call. */
enum needed_else {
	NEEDED_ALWAYS,
	NEEDED_OR_FAILS,   /* any error */
	NEEDED_OR_UNKNOWN, /* ENOSYS, as from a kernel without the call */
};

struct needed_call {
	long number;
	const char *name;
	enum needed_else otherwise;
	uint32_t known; /* bit i: only calls with this arguments[i] are needed */
	uint64_t arguments[6];
};

extern const struct needed_call needed_calls[];
extern const size_t needed_call_count;
