#include "collect/wall/holders.h"

#include <stdbool.h>
#include <sys/syscall.h>

#include "collect/processes/image.h"
#include "collect/wall/owners.h"
#include "collect/wall/wall.h"
#include "remote/stack.h"
#include "remote/task.h"
#include "remote/wait.h"

/* Differs for each blocking period of the thread; 0: running. */
static uint64_t rest_of(const struct wall_thread *thread)
{
	if (thread->is_coarse)
		return thread->is_read ? thread->sched.slices + 1 : 0;
	return thread->place != WALL_RUNS ? thread->serial + 1 : 0;
}

void wall_holders_note(struct wall_holders *holders, const struct wall_thread *thread,
		       const struct wait_thread *met, const struct wait *wait)
{
	const struct remote_stack *stack = met->stack;
	size_t i = 0;

	while (i < stack->count && stack->frames[i].kind != STACK_PYTHON)
		i++;
	if (wait->on != WAIT_ON_PYTHON_LOCK || i == stack->count)
		return;
	python_holders_note(&holders->threads,
			    &(struct python_lock_wait){
				    .inner_tid = thread->inner_tid,
				    .rest = rest_of(thread),
				    .lock = wait->object,
				    .futex = met->call.arguments[0],
				    .frame = stack->frames[i].object,
				    .instruction = stack->frames[i].instruction,
			    });
}

/* Context of the callbacks. */
struct asking {
	const struct wall_holders_terms *terms;
	const struct wall_thread *waiter;
};

static const struct image_thread *thread_of(const struct asking *asking, pid_t inner_tid)
{
	return wall_find_inner(asking->terms->wall, asking->terms->image, asking->waiter,
			       inner_tid);
}

static uint64_t rest_of_tid(void *context, pid_t inner_tid)
{
	const struct asking *asking = context;
	const struct image_thread *known = thread_of(asking, inner_tid);
	const struct wall_thread *thread =
		known != NULL ? wall_find(asking->terms->wall, known->row) : NULL;

	return thread != NULL ? rest_of(thread) : 0;
}

static bool is_in_futex(void *context, pid_t inner_tid, uint64_t futex)
{
	const struct asking *asking = context;
	const struct image_thread *known = thread_of(asking, inner_tid);
	struct task_call call;

	return known != NULL &&
	       task_read_call(asking->terms->image->pid, known->tid, &call) == 0 &&
	       !call.is_running && call.number == SYS_futex && call.arguments[0] == futex;
}

pid_t wall_holders_find(struct wall_holders *holders, const struct wall_holders_terms *terms)
{
	const uint64_t lock = terms->owned->wait.object;
	struct asking asking = { terms, wall_find(terms->wall, terms->owned->thread) };
	const struct python_rests rests = { rest_of_tid, is_in_futex, &asking };
	pid_t owner;

	if (asking.waiter == NULL)
		return 0;
	if (holders->answered_ns != terms->now_ns)
		holders->answer_count = 0;
	holders->answered_ns = terms->now_ns;
	for (size_t i = 0; i < holders->answer_count; i++) {
		if (holders->answers[i].lock == lock)
			return holders->answers[i].inner_owner;
	}
	owner = python_holders_find(&holders->threads, terms->remote, lock, &rests,
				    terms->until_ns);
	if (owner >= 0 && holders->answer_count < WALL_HOLDERS_ANSWERS) {
		holders->answers[holders->answer_count].lock = lock;
		holders->answers[holders->answer_count++].inner_owner = owner;
	}
	return owner;
}

void wall_holders_done(struct wall_holders *holders)
{
	python_holders_done(&holders->threads);
	*holders = (struct wall_holders){ 0 };
}
