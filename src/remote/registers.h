/*
 * registers - the registers that the walk of a stack begins with.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define WALK_REGISTERS 33 /* by DWARF number; x86-64 has 17, of which 16 is rip */

/* The registers that a walk begins with. */
struct walk_registers {
	uint64_t pc, sp;     /* pc 0: none are known; there may be an interpreter's frames */
	uint64_t fp, bx, lr; /* if has_all */
	bool has_all;        /* else pc and sp only */
	uint64_t all[WALK_REGISTERS]; /* if has_all */
	uint64_t known;               /* a bit for each of all[] that is, without has_all */
	bool is_in_call;              /* pc is behind the instruction of a system call */
};
