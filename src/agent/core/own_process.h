/*
 * own_process - which process this is.
 */
#pragma once
#include <stdbool.h>

struct own_process {
	int pid;
	bool has_had_threads; /* besides the first */
	bool is_trap_ours;    /* the program's SIGTRAP is another signal: signals/signals.h */
};
extern struct own_process own_process;

/*
 * Whether this is a child of vfork(), or of a raw clone: its memory is, or was, another process's,
 * and so are the events and timers that own_ring speaks of.  A system call.
 */
bool agent_is_of_another(void);
