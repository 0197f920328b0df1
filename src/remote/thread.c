#include "remote/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "remote/ruby.h"
#include "remote/running.h"

/* Looks at a thread that does not rest, before it is taken as one that runs. */
#define TRIES    6
#define PAUSE_NS 200000L
/* For one thread that runs. */
#define WAIT_MS 100

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
	thread_state_find(remote, thread->inner_tid, &thread->states);
	if (thread->call.is_running)
		return 0;
	memory_forget(&remote->mem);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
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

/* Milliseconds on the clock that measures how long was waited. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int take_copy(struct remote *remote, pid_t tid, struct running_copy *out_copy)
{
	const int64_t begin = now_ms();
	const int most = remote->patience_ms < WAIT_MS ? remote->patience_ms : WAIT_MS;
	const int rc = running_copy(tid, most, out_copy);

	remote->patience_ms -= (int)(now_ms() - begin);
	if (remote->patience_ms < 0)
		remote->patience_ms = 0;
	return rc;
}

static void doubt(struct remote_thread *thread)
{
	thread->trust = THREAD_DOUBTFUL;
	thread->why_doubtful = "the thread ran on while its innermost frames were read";
}

/* What is not in the copy, as an interpreter's frames, is read while the thread runs on. */
static void read_copied(struct remote *remote, struct remote_thread *thread,
			const struct running_copy *copy)
{
	memory_forget(&remote->mem);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
	memory_use_copy(&remote->mem, copy->registers.sp, copy->stack, copy->len);
	walk_stack(remote, &copy->registers, &thread->states, &thread->stack);
	memory_use_copy(&remote->mem, 0, NULL, 0);
	thread->trust = THREAD_COPIED;
	if (stack_has_interpreted(&thread->stack))
		doubt(thread);
}

/* Without registers there are an interpreter's frames, which lie in its heap. */
static void read_interpreted(struct remote *remote, struct remote_thread *thread, int why)
{
	memory_forget(&remote->mem);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
	walk_stack(remote, &(struct walk_registers){ .pc = 0 }, &thread->states,
		   &thread->stack);
	thread->trust = THREAD_UNREAD;
	if (stack_has_interpreted(&thread->stack))
		doubt(thread);
	if (why == -ETIMEDOUT)
		thread->why_unread = "it waits for a processor";
	else if (why == -EACCES || why == -EPERM)
		thread->why_unread =
			"it runs, and kernel.perf_event_paranoid forbids the event "
			"that would copy its stack";
	else
		thread->why_unread = "it runs, and its stack could not be copied";
}

/* A thread that never rested when it was looked at. */
static void read_running(struct remote *remote, struct remote_thread *thread)
{
	struct running_copy copy;
	const int rc = take_copy(remote, thread->tid, &copy);

	thread->wait = NULL;
	thread->lock = (struct wait_lock){ 0 };
	thread->call = (struct task_call){ .is_running = true, .number = -1 };
	if (rc < 0) {
		read_interpreted(remote, thread, rc);
		return;
	}
	read_copied(remote, thread, &copy);
	running_done(&copy);
}

int remote_thread_read(struct remote *remote, pid_t tid, struct remote_thread *out_thread)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int rc = 0;

	*out_thread = (struct remote_thread){ .tid = tid, .inner_tid = tid };
	for (int i = 0; i < TRIES && rc == 0; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		rc = read_resting(remote, out_thread);
	}
	if (has_ended(rc)) {
		remote_thread_done(out_thread);
		return -ESRCH;
	}
	out_thread->trust = THREAD_CONSISTENT;
	if (rc < 0) {
		out_thread->trust = THREAD_UNREAD;
		out_thread->why_unread = "what it executes may not be read";
	} else if (rc == 0) {
		read_running(remote, out_thread);
	}
	return 0;
}

void remote_thread_done(struct remote_thread *thread)
{
	stack_done(&thread->stack);
}
