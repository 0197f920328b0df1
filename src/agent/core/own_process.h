/*
 * own_process - which process this is.
 */
#pragma once
#include <stdbool.h>

struct own_process {
	int pid;
	bool has_had_threads; /* it has, or had, threads besides the first */
	bool is_trap_ours;    /* the kernel's action for SIGTRAP is ours: signals/signals.h */
};
extern struct own_process own_process;

/*
 * Whether this is a child of vfork() or of a raw clone: it shares or copied another process's
 * memory, and the ring's events and timers are that process's.  Costs a system call.
 */
bool agent_is_of_another(void);
