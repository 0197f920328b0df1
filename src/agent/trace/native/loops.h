/*
 * loops - loops of calls that measure what compilers' hooks cost.
 *
 * loops.c is compiled once for each flag whose hooks we have, as a program would be.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

enum native_loop {
	NATIVE_LOOP_NOTHING,
	NATIVE_LOOP_WORK_INLINE,
	NATIVE_LOOP_EMPTY,
	NATIVE_LOOP_WORK,
	NATIVE_LOOP_LONG_INLINE,
	NATIVE_LOOP_LONG,
	NATIVE_LOOP_NESTED,
	NATIVE_LOOP_COUNT,
};

/* Runs a loop, of functions with hooks or without. */
void trace_native_loop_instrumented(u32 loop, u32 turns, bool has_hooks);
void trace_native_loop_mcount(u32 loop, u32 turns, bool has_hooks);
void trace_native_loop_fentry(u32 loop, u32 turns, bool has_hooks);
