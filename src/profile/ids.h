/*
 * ids - identifiers of a profile's strings, functions, stacks …: distinct types, so that they
 * cannot be mixed up; 0 means none.
 */
#pragma once
#include <stdint.h>

struct string_id {
	uint32_t n;
};
struct module_id {
	uint32_t n;
};
struct function_id {
	uint32_t n;
};
struct frame_id {
	uint32_t n;
};
struct stack_id {
	uint32_t n;
};
struct process_id {
	uint32_t n;
};
struct thread_id {
	uint32_t n;
};

struct stack {
	struct stack_id parent; /* the callers; none for an outermost frame */
	struct frame_id frame;
	uint32_t depth; /* 1 for an outermost frame */
};
