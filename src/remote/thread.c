#include "remote/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"

/* Looks at a thread that does not rest, before it is taken as one that runs. */
#define TRIES         6
#define PAUSE_NS      200000L
#define FUTEX_CALL_NR 202

static void find_states(struct remote *remote, struct remote_thread *thread)
{
	if (remote->python && thread->states.python == 0)
		thread->states.python = remote_python_state(remote, thread->inner_tid);
	if (remote->ruby && thread->states.ruby == 0)
		thread->states.ruby = remote_ruby_context(remote, thread->inner_tid);
}

static void look_at_locks(struct remote *remote, struct remote_thread *thread)
{
	if (remote->python) {
		thread->holds_gil = remote_python_holds_gil(remote, thread->states.python);
		thread->waits_for_gil = !thread->call.is_running &&
					thread->call.number == FUTEX_CALL_NR &&
					remote_python_is_gil(remote, thread->call.arguments[0]);
	}
	if (remote->ruby)
		thread->holds_gvl = remote_ruby_holds_gvl(remote, thread->states.ruby);
}

static void read_wait(struct remote *remote, struct remote_thread *thread)
{
	CLEANUP(text_done) struct text text = { 0 };

	wait_describe(remote, &thread->call, &text);
	thread->wait = text.len > 0 ? remote_keep(remote, text.data, text.len) : NULL;
	thread->lock = wait_find_lock(remote, &thread->call);
	if (task_read_text(remote->pid, thread->tid, "wchan", thread->kernel_function,
			   sizeof thread->kernel_function) < 0 ||
	    strcmp(thread->kernel_function, "0") == 0)
		thread->kernel_function[0] = '\0';
}

/* One try: 1 if the thread rested, 0 if not; -errno if it has ended. */
static int read_resting(struct remote *remote, struct remote_thread *thread)
{
	struct task_status before, after;
	struct task_call again;
	int rc;

	if ((rc = task_read_status(remote->pid, thread->tid, &before)) < 0 ||
	    (rc = task_read_call(remote->pid, thread->tid, &thread->call)) < 0)
		return rc;
	thread->state = before.state;
	thread->inner_tid = before.inner_tid;
	memcpy(thread->name, before.name, sizeof thread->name);
	find_states(remote, thread);
	if (thread->call.is_running)
		return 0;
	memory_forget(&remote->mem);
	look_at_locks(remote, thread);
	walk_stack(remote,
		   &(struct walk_registers){ .pc = thread->call.pc,
					     .sp = thread->call.sp,
					     .is_in_call = thread->call.number >= 0 },
		   &thread->states, &thread->stack);
	if (remote->ruby && thread->states.ruby != 0)
		thread->long_name = remote_ruby_thread_name(remote, thread->states.ruby);
	read_wait(remote, thread);
	if ((rc = task_read_call(remote->pid, thread->tid, &again)) < 0 ||
	    (rc = task_read_status(remote->pid, thread->tid, &after)) < 0)
		return rc;
	return task_rested(&thread->call, &before, &again, &after);
}

static bool has_ended(int rc)
{
	return rc == -ENOENT || rc == -ESRCH;
}

int remote_thread_read(struct remote *remote, pid_t tid, struct remote_thread *out_thread)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int rc;

	*out_thread = (struct remote_thread){ .tid = tid, .inner_tid = tid };
	for (int i = 0; i < TRIES; i++) {
		rc = read_resting(remote, out_thread);
		if (has_ended(rc)) {
			remote_thread_done(out_thread);
			return -ESRCH;
		}
		if (rc != 0)
			break;
		nanosleep(&pause, NULL);
	}
	if (rc == 1) {
		out_thread->trust = THREAD_CONSISTENT;
		return 0;
	}
	if (rc < 0) {
		out_thread->trust = THREAD_UNREAD;
		out_thread->why_unread = "what it executes may not be read";
		return 0;
	}
	out_thread->trust = THREAD_DOUBTFUL;
	if (out_thread->call.is_running) {
		out_thread->trust = THREAD_UNREAD;
		out_thread->why_unread = "it runs";
	}
	return 0;
}

void remote_thread_done(struct remote_thread *thread)
{
	stack_done(&thread->stack);
}
