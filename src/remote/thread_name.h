/*
 * thread_name - what a Python or Ruby program calls a thread: threading.Thread.name, Thread#name.
 */
#pragma once

struct remote;
struct remote_stack;
struct walk_states;

/* Of a thread with these states and this stack; NULL: it has none, or it cannot be read. */
const char *thread_name_read(struct remote *remote, const struct walk_states *states,
			     const struct remote_stack *stack);
