/*
 * needed_calls - the system calls that are made in a process by attaching, and by the agent then.
 *
 * Under a seccomp filter each must be known to be allowed, with the arguments that matter: one
 * that is not may end the process.  A call that is added to the stub, to what it calls of libc, or
 * to the agent (but for those that it makes in place of the program's own) has a row here; a live
 * test has a process die of any that is missing.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* What else than being made may become of it. */
enum needed_else {
	NEEDED_ALWAYS,
	NEEDED_OR_FAILS,   /* it may fail, whatever with */
	NEEDED_OR_UNKNOWN, /* it may fail as one that the kernel does not know (ENOSYS) */
};

struct needed_call {
	long number;
	const char *name;
	enum needed_else otherwise;
	uint32_t known; /* bit i: its arguments[i] is the one here */
	uint64_t arguments[6];
};

extern const struct needed_call needed_calls[];
extern const size_t needed_call_count;
