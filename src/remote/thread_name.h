/*
 * thread_name - the name that a Python or Ruby program gave a thread: threading.Thread.name,
 * Thread#name.
 */
#pragma once

struct remote;
struct remote_stack;
struct walk_states;

/* NULL: the thread has no name, or it cannot be read. */
const char *thread_name_read(struct remote *remote, const struct walk_states *states,
			     const struct remote_stack *stack);
