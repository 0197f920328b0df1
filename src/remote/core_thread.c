#include "remote/core_thread.h"

#include <string.h>

#include "remote/core_memory.h"
#include "remote/process.h"
#include "remote/thread.h"
#include "remote/thread_name.h"

/* Whether a native frame was found by the unwind rules of a file that may be another build. */
static bool is_in_assumed_file(const struct remote *remote, const struct remote_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		if (stack->frames[i].kind == STACK_NATIVE &&
		    core_fit_at(remote->core, stack->frames[i].address) == CORE_FIT_ASSUMED)
			return true;
	}
	return false;
}

void core_thread_read(struct remote *remote, const struct core_thread *from, bool has_room,
		      struct remote_thread *out_thread)
{
	struct remote_thread *thread = out_thread;

	*thread = (struct remote_thread){
		.tid = from->tid,
		.inner_tid = from->tid,
		.state = from->was_blocked ? 'S' : 'R',
		.call = from->call,
		.signal = from->signal,
	};
	memcpy(thread->name, remote->core->file.name, sizeof remote->core->file.name);
	thread_state_find(remote, thread->inner_tid, &thread->states);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
	if (has_room)
		walk_stack(remote, &from->registers, &thread->states, &thread->stack);
	thread->long_name = thread_name_read(remote, &thread->states, &thread->stack);
	remote_thread_read_wait(remote, thread);
	thread->trust = has_room ? THREAD_CONSISTENT : THREAD_UNREAD;
	thread->why_unread = has_room ? NULL : "the threads before it have a million frames";
	if (is_in_assumed_file(remote, &thread->stack)) {
		thread->trust = THREAD_DOUBTFUL;
		thread->why_doubtful = "the core does not say of which build a file of its "
				       "frames was, and it may be another now";
	}
}
