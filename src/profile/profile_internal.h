/*
 * profile_internal - the model's tables, shared by its files.
 *
 * profile.c adds and returns rows, profile_weights.c sums the weights on stacks.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"
#include "profile/call_times.h"
#include "profile/info.h"
#include "profile/time_slots.h"
#include "profile/sequence.h"
#include "profile/stack_set.h"

struct known_times {
	struct call_times times;
	bool is_known;
};

/* Every list below is indexed by id - 1. */
struct profile {
	struct profile_info info;
	struct intern strings;
	struct intern function_keys; /* numbers its strings from 1, as ids */
	struct intern frame_keys;
	struct table module_index;
	struct table weight_index; /* (stack and thread, state) to index + 1 */
	struct module *modules;
	struct function *functions;
	struct frame *frames;
	struct stack_set stacks;
	struct process *processes;
	struct thread *threads;
	struct weight *weights;
	struct known_times *call_times; /* of a trace; for the first call_times_count weights */
	size_t module_count, module_capacity;
	size_t function_count, function_capacity;
	size_t frame_count, frame_capacity;
	size_t process_count, process_capacity;
	size_t thread_count, thread_capacity;
	size_t weight_count, weight_capacity;
	size_t call_times_count, call_times_capacity;
	struct sequence sequence;
	bool is_saturated;
	struct time_slots time_slots;
};
