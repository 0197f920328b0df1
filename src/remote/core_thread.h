/*
 * core_thread - one thread of a core file: its state, its stack, what it waited for.
 */
#pragma once
#include <stdbool.h>

struct core_thread;
struct remote;
struct remote_thread;

/*
 * As remote_thread_read() for one that runs; nothing moves, so all of it is of one moment.
 * has_room: else it gets no stack.
 */
void core_thread_read(struct remote *remote, const struct core_thread *from, bool has_room,
		      struct remote_thread *out_thread);
