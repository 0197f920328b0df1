/*
 * permits - what the agent may still do where a seccomp filter or prctl() may forbid it.
 *
 * seccomp.c clears a flag before the program makes the call that may forbid it.
 */
#pragma once
#include <stdbool.h>

struct permits {
	bool may_call;         /* system calls, in handlers */
	bool may_copy;         /* process_vm_readv() and the like */
	bool may_read_counter; /* the machine's counter: without it no clock can be read, either */
};
extern struct permits permits;
