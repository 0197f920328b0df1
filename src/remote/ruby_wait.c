#include "remote/ruby_wait.h"

#include <stddef.h>
#include <string.h>

#include "remote/stack.h"

static const struct ruby_wait waits[] = {
	{ "Kernel#sleep", WAIT_STATE_SLEEP, NULL, false },
	{ "Kernel.sleep", WAIT_STATE_SLEEP, NULL, false },
	{ "Thread#join", WAIT_STATE_WAIT, NULL, false },
	{ "Thread#value", WAIT_STATE_WAIT, NULL, false },
	{ "Thread.stop", WAIT_STATE_WAIT, NULL, false },
	{ "Process.wait", WAIT_STATE_WAIT, "a child", false },
	{ "Process.wait2", WAIT_STATE_WAIT, "a child", false },
	{ "Process.waitall", WAIT_STATE_WAIT, "a child", false },
	{ "Process::Status.wait", WAIT_STATE_WAIT, "a child", false },
	{ "Kernel#system", WAIT_STATE_WAIT, "a child", false },
	{ "Mutex#sleep", WAIT_STATE_LOCK, "ConditionVariable#wait", true },
	{ "Mutex#lock", WAIT_STATE_LOCK, "Mutex", false },
	{ "Mutex#synchronize", WAIT_STATE_LOCK, "Mutex", false },
	{ "ConditionVariable#wait", WAIT_STATE_LOCK, NULL, true },
	{ "Monitor#enter", WAIT_STATE_LOCK, "Monitor", false },
	{ "Monitor#mon_enter", WAIT_STATE_LOCK, "Monitor", false },
	{ "Monitor#synchronize", WAIT_STATE_LOCK, "Monitor", false },
	{ "Monitor#mon_synchronize", WAIT_STATE_LOCK, "Monitor", false },
	{ "Monitor#wait_for_cond", WAIT_STATE_LOCK, "ConditionVariable#wait", true },
	{ "Queue#pop", WAIT_STATE_LOCK, NULL, false },
	{ "Queue#shift", WAIT_STATE_LOCK, NULL, false },
	{ "Queue#deq", WAIT_STATE_LOCK, NULL, false },
	{ "SizedQueue#pop", WAIT_STATE_LOCK, NULL, false },
	{ "SizedQueue#shift", WAIT_STATE_LOCK, NULL, false },
	{ "SizedQueue#deq", WAIT_STATE_LOCK, NULL, false },
	{ "SizedQueue#push", WAIT_STATE_LOCK, NULL, false },
	{ "SizedQueue#<<", WAIT_STATE_LOCK, NULL, false },
};

/* Implemented in C, or in Ruby's own Ruby code, as Queue#pop from 3.2 on. */
static bool is_rubys_own(const struct stack_frame *frame)
{
	const char *internal = "<internal:";

	return frame->kind == STACK_RUBY_C ||
	       (frame->kind == STACK_RUBY && frame->file &&
		strncmp(frame->file, internal, strlen(internal)) == 0);
}

const struct ruby_wait *ruby_wait_of(const struct remote_stack *stack)
{
	const size_t prefix = strlen("Thread::");
	const char *name;
	size_t i = 0;

	while (stack && i < stack->count && stack->frames[i].kind == STACK_NATIVE)
		i++;
	if (!stack || i == stack->count || !is_rubys_own(&stack->frames[i]) ||
	    !stack->frames[i].name)
		return NULL;
	name = stack->frames[i].name;
	name += strncmp(name, "Thread::", prefix) == 0 ? prefix : 0;
	for (size_t j = 0; j < sizeof waits / sizeof *waits; j++) {
		if (strcmp(name, waits[j].method) == 0)
			return &waits[j];
	}
	return NULL;
}
