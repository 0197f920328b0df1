/* core_thread - reads one thread of a core file: its state, its stack, what it waited for. */
#pragma once
#include <stdbool.h>

struct core_thread;
struct remote;
struct remote_thread;

/*
 * Like remote_thread_read() for a running process; a core is of one moment, so nothing is
 * doubtful. Without has_room the thread gets no stack.
 */
void core_thread_read(struct remote *remote, const struct core_thread *from, bool has_room,
		      struct remote_thread *out_thread);
