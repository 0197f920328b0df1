/*
 * call_registers - the registers of a thread in a system call, as far as known, to begin a
 * walk.
 */
#pragma once
#include <stddef.h>

#include "remote/registers.h"
#include "remote/task.h"

/* /proc gives pc, sp and the registers that hold the arguments of the system call. */
static inline struct walk_registers call_registers(const struct task_call *call)
{
	struct walk_registers registers = { .pc = call->pc,
					    .sp = call->sp,
					    .is_in_call = call->number >= 0 };
#if defined(__x86_64__)
	/* rdi, rsi, rdx, r10, r8, r9: rdi holds vfork()'s return address. */
	static const uint8_t numbers[] = { 5, 4, 1, 10, 8, 9 };

	for (size_t i = 0; i < sizeof numbers && call->number >= 0; i++) {
		registers.all[numbers[i]] = call->arguments[i];
		registers.known |= 1ULL << numbers[i];
	}
#endif
	return registers;
}
