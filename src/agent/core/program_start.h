/*
 * program_start - facts about the program that are known from its start on and do not change.
 */
#pragma once
#include "abi/types.h"

struct program_start {
	const char *name;             /* what it was started as, for the recorder */
	const char *const *arguments; /* what it was started with */
	const void *headers;          /* its program headers, by the auxiliary vector */
	u32 header_count;
	u64 stack_top;      /* the end of the initial stack */
	u64 stack_bytes;    /* how far below it the initial stack may reach */
	u64 thread_pointer; /* of the thread on the initial stack; 0: unknown */
};
extern struct program_start program_start;
