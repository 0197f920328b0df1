#include "remote/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/agreement.h"
#include "remote/call_registers.h"
#include "remote/process.h"
#include "remote/running.h"
#include "remote/thread_name.h"
#include "remote/wait_label.h"

/* Attempts to find a thread blocked, before it is treated as running. */
#define TRIES    6
#define PAUSE_NS 200000L
/* Kernel copies of a running thread, until one agrees with reads of its interpreted frames. */
#define COPIES 4
/* Likewise, with the interpreted frames alone. */
#define READS 8
/*
 * Each is compared with so many further reads of the interpreted frames, after 1, 2, … such
 * pauses.
 */
#define AGAIN          4
#define AGAIN_PAUSE_NS 30000L
/* Time limit for both: each may have as many frames as a program has made up. */
#define TRIES_MS 1000
/* To wait for one kernel copy. */
#define WAIT_MS 100

void remote_thread_read_wait(struct remote *remote, struct remote_thread *thread)
{
	const struct wait_thread waiting = { thread->state, thread->call, thread->states,
					     &thread->stack };
	CLEANUP(text_done) struct text text = { 0 };

	wait_describe(remote, &thread->call, false, &text);
	thread->call_text = text.len > 0 ? remote_keep(remote, text.data, text.len) : NULL;
	wait_read(remote, &waiting, &thread->wait);
}

static void read_kernel_function(const struct remote *remote, struct remote_thread *thread)
{
	if (task_read_text(remote->pid, thread->tid, "wchan", thread->kernel_function,
			   sizeof thread->kernel_function) < 0 ||
	    strcmp(thread->kernel_function, "0") == 0)
		thread->kernel_function[0] = '\0';
}

/* One attempt: 1 if the thread stayed blocked, 0 if not; -errno if it has ended. */
static int read_resting(struct remote *remote, struct remote_thread *thread)
{
	struct task_status before, after;
	struct task_call again;
	int rc;

	if ((rc = task_read_status(remote->pid, thread->tid, &before)) < 0 ||
	    (rc = task_read_call(remote->pid, thread->tid, &thread->call)) < 0)
		return rc;
	if (before.state == 'Z' || before.state == 'X')
		return -ESRCH;
	thread->state = before.state;
	thread->inner_tid = before.inner_tid;
	memcpy(thread->name, before.name, sizeof thread->name);
	thread_state_find(remote, thread->inner_tid, &thread->states);
	if (thread->call.is_running)
		return 0;
	memory_forget(&remote->mem);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
	const struct walk_registers registers = call_registers(&thread->call);

	walk_stack(remote, &registers, &thread->states, &thread->stack);
	thread->long_name = thread_name_read(remote, &thread->states, &thread->stack);
	remote_thread_read_wait(remote, thread);
	read_kernel_function(remote, thread);
	if ((rc = task_read_call(remote->pid, thread->tid, &again)) < 0 ||
	    (rc = task_read_status(remote->pid, thread->tid, &after)) < 0)
		return rc;
	return task_rested(&thread->call, &before, &again, &after);
}

static bool has_ended(int rc)
{
	return rc == -ENOENT || rc == -ESRCH;
}

/* Milliseconds, monotonic, to measure the waiting. */
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

/* Without registers only the interpreter's frames can be read, which lie in its heap. */
static void walk_interpreted(struct remote *remote, const struct walk_states *states,
			     struct remote_stack *stack)
{
	memory_forget(&remote->mem);
	walk_stack(remote, &(struct walk_registers){ .pc = 0 }, states, stack);
}

/* Memory outside the copy, as an interpreter's frames, is read while the thread runs on. */
static void walk_copied(struct remote *remote, const struct walk_states *states,
			const struct running_copy *copy, struct remote_stack *stack)
{
	memory_forget(&remote->mem);
	memory_use_copy(&remote->mem, copy->registers.sp, copy->stack, copy->len);
	walk_stack(remote, &copy->registers, states, stack);
	memory_use_copy(&remote->mem, 0, NULL, 0);
}

/* Whether the interpreted frames match the native ones, as far as those show. */
static bool fits(const struct remote_stack *stack)
{
	return stack->ending != WALK_CODE_UNMATCHED && stack->ending != WALK_CODE_UNREADABLE &&
	       stack->ending != WALK_TOO_DEEP;
}

/*
 * Counts the doubtful frames of thread->stack: those not found by further reads, and all
 * further in. A loop of brief calls reuses the same frames, so reads in quick succession may
 * find the same wrong caller: the pauses between them differ in length.
 */
static size_t read_again(struct remote *remote, struct remote_thread *thread)
{
	struct remote_stack again = { 0 };
	size_t doubtful = 0;

	if (thread->states.python == 0 && thread->states.ruby == 0)
		return 0;
	for (int i = 1; i <= AGAIN; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = i * AGAIN_PAUSE_NS }, NULL);
		walk_interpreted(remote, &thread->states, &again);
		doubtful = agreement_mark(&again, &thread->stack);
	}
	stack_done(&again);
	return doubtful;
}

/*
 * Takes the kernel's copy between two reads of the interpreted frames. Returns running_copy()'s
 * result; *out_doubtful: frames of thread->stack missing in the first read; SIZE_MAX: native
 * and interpreted frames do not match.
 */
static int try_copy(struct remote *remote, struct remote_thread *thread, size_t *out_doubtful)
{
	struct remote_stack before = { 0 };
	struct running_copy copy;
	int rc;

	*out_doubtful = 0;
	if (thread->states.python != 0 || thread->states.ruby != 0)
		walk_interpreted(remote, &thread->states, &before);
	rc = take_copy(remote, thread->tid, &copy);
	if (rc == 0) {
		walk_copied(remote, &thread->states, &copy, &thread->stack);
		running_done(&copy);
		agreement_mark(&before, &thread->stack);
		*out_doubtful = read_again(remote, thread);
		if (!fits(&thread->stack) ||
		    ((before.count > 0 || thread->stack.activations > 0) &&
		     !stack_has_interpreted(&thread->stack)))
			*out_doubtful = SIZE_MAX;
	}
	stack_done(&before);
	return rc;
}

/* Reads the interpreted frames alone, and keeps those that all reads find. */
static size_t try_interpreted(struct remote *remote, struct remote_thread *thread)
{
	int reads = 0;

	/* The pointer to the first frame may belong to another thread just then. */
	do
		walk_interpreted(remote, &thread->states, &thread->stack);
	while (thread->stack.count == 0 && ++reads < READS);
	const size_t doubtful = read_again(remote, thread);

	return thread->stack.count > 0 ? doubtful : SIZE_MAX;
}

static const char *why_not_copied(int rc)
{
	if (rc == 0)
		return "it runs, and they were of another moment than its interpreter's";
	if (rc == -ETIMEDOUT)
		return "it waits for a processor";
	if (rc == -EACCES || rc == -EPERM)
		return "it runs, and kernel.perf_event_paranoid forbids the event "
		       "that would copy its stack";
	return "it runs, and its stack could not be copied";
}

static void set_trust(struct remote_thread *thread, enum thread_trust trust, size_t doubtful)
{
	thread->trust = doubtful > 0 ? THREAD_DOUBTFUL : trust;
	thread->why_doubtful = doubtful > 0 ? "the thread ran on while its innermost "
					      "interpreted frames were read"
					    : NULL;
}

/* For when no event can be opened, the thread gets no processor, or its frames never match. */
static void read_interpreted(struct remote *remote, struct remote_thread *thread, int why)
{
	const int64_t end = now_ms() + TRIES_MS;
	size_t doubtful = SIZE_MAX;

	for (int i = 0; i < READS && doubtful > 0 && now_ms() <= end; i++)
		doubtful = try_interpreted(remote, thread);
	set_trust(thread, THREAD_AGREED, doubtful);
	if (thread->stack.count == 0)
		thread->trust = THREAD_UNREAD;
	thread->why_unread = why_not_copied(why);
}

/* For a thread that was never found blocked. */
static void read_running(struct remote *remote, struct remote_thread *thread)
{
	const int64_t end = now_ms() + TRIES_MS;
	size_t doubtful = SIZE_MAX;
	int rc = 0;

	thread->call_text = NULL;
	thread->wait = (struct wait){ .state = WAIT_STATE_RUNNING };
	thread->call = (struct task_call){ .is_running = true, .number = -1 };
	for (int i = 0; i < COPIES && rc == 0 && doubtful > 0 && now_ms() <= end; i++)
		rc = try_copy(remote, thread, &doubtful);
	thread->locks = thread_state_locks(remote, &thread->states, &thread->call);
	if (rc == 0 && doubtful != SIZE_MAX)
		set_trust(thread, THREAD_COPIED, doubtful);
	else
		read_interpreted(remote, thread, rc);
	thread->long_name = thread_name_read(remote, &thread->states, &thread->stack);
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
