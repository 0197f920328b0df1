/*
 * registers - the registers that the walk of a stack begins with.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define WALK_REGISTERS 33 /* by DWARF number; x86-64 has 17, of which 16 is rip */

/* The registers that a walk begins with. */
struct walk_registers {
	uint64_t pc, sp;              /* pc 0: unknown; there may be interpreter frames */
	uint64_t fp, bx, lr;          /* valid if has_all */
	bool has_all;                 /* else only pc and sp are valid */
	uint64_t all[WALK_REGISTERS]; /* valid if has_all */
	uint64_t known;               /* without has_all: a bit for each valid one of all[] */
	bool is_in_call;              /* pc is just after a system call instruction */
};
