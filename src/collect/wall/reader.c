#include "collect/wall/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "abi/walk_status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/stacks/stack_rows.h"
#include "collect/processes/ring_view.h"
#include "collect/wall/holders.h"
#include "collect/wall/owners.h"
#include "collect/wall/reader_rows.h"
#include "remote/call_registers.h"
#include "remote/interpreter_files.h"
#include "remote/open.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_lock.h"
#include "remote/regions.h"
#include "remote/ruby.h"
#include "remote/ruby_wait.h"
#include "remote/thread_name.h"
#include "remote/thread_state.h"
#include "remote/wait.h"
#include "remote/walk.h"

/* Open processes: each has a descriptor, and copies of pages. */
#define OPEN_MOST 256
/* Its mappings are read again after so many times what the last reading took. */
#define REMAP_FACTOR 20
#define RETRY_NS     1000000000ULL
/* How often the name of a waiting thread is read: most are named from the beginning. */
#define NAME_NS 1000000000ULL
/* A thread that begins may have no state in its interpreter yet. */
#define BEGINS_NS 100000000ULL
/* Limit of one walk: other threads wait for it. */
#define WALK_MOST_NS 50000000ULL
/*
 * While the kernel lists what an epoll watches, its process's calls that change it wait: a tenth of
 * a millisecond for so many descriptors.
 */
#define DESCRIPTORS_MOST 256
/* Conditions and read-write locks of the C library have two adjacent futexes. */
#define FUTEXES 8

struct wall_process {
	struct remote remote;
	bool is_open, is_stale;
	uint64_t opened_ns, cost_ns; /* also of one that could not be opened */
	uint64_t listed_ns;  /* the tick at which its interpreters' threads were listed */
	uint64_t listing_ns; /* the time of that */
	struct wall_holders holders;
};

void wall_reader_init(struct wall_reader *reader, struct stack_rows *rows,
		      const struct wall *threads)
{
	*reader = (struct wall_reader){ .rows = rows,
					.threads = threads,
					.files = interpreter_files_new() };
}

static void process_free(struct wall_reader *reader, struct wall_process *process)
{
	if (process->is_open) {
		remote_close(&process->remote);
		reader->open--;
	}
	wall_holders_done(&process->holders);
	free(process);
}

void wall_reader_done(struct wall_reader *reader)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	while (table_next(&reader->processes, &cursor, &hi, &lo, &value))
		process_free(reader, (void *)(uintptr_t)value);
	table_done(&reader->processes);
	interpreter_files_free(reader->files);
	stack_done(&reader->stack);
}

void wall_reader_map(struct wall_reader *reader, const struct image *image)
{
	uint64_t value;

	if (table_get(&reader->processes, 0, image->row, &value))
		((struct wall_process *)(uintptr_t)value)->is_stale = true;
}

void wall_reader_forget(struct wall_reader *reader, const struct image *image)
{
	uint64_t value;

	if (!table_get(&reader->processes, 0, image->row, &value))
		return;
	table_remove(&reader->processes, 0, image->row);
	process_free(reader, (void *)(uintptr_t)value);
}

static void process_open(struct wall_reader *reader, struct wall_process *process,
			 const struct image *image)
{
	struct error err;

	process->opened_ns = monotonic_ns();
	process->is_stale = false;
	if (process->is_open)
		remote_map_again(&process->remote, &err);
	else
		process->is_open =
			remote_open(image->pid, reader->files, &process->remote, &err) == 0;
	process->cost_ns = monotonic_ns() - process->opened_ns;
	process->listed_ns = 0;
	reader->cost_ns += process->cost_ns;
}

/* Whether to try to open it again, or to read its mappings again. */
static bool is_due(const struct wall_process *process, uint64_t now_ns)
{
	if (!process->is_open)
		return now_ns > process->opened_ns + RETRY_NS;
	return process->is_stale &&
	       now_ns > process->opened_ns + process->cost_ns * REMAP_FACTOR;
}

/* NULL: it cannot be read, or not yet. */
static struct wall_process *process_of(struct wall_reader *reader, const struct image *image,
				       uint64_t now_ns)
{
	bool is_new;
	uint64_t *place = table_at(&reader->processes, 0, image->row, &is_new);
	struct wall_process *process = (void *)(uintptr_t)*place;

	if (is_new) {
		process = xzalloc(sizeof *process);
		*place = (uintptr_t)process;
	}
	if ((is_new || is_due(process, now_ns)) &&
	    (process->is_open || reader->open < OPEN_MOST)) {
		const bool was_open = process->is_open;

		process_open(reader, process, image);
		reader->open += process->is_open && !was_open;
		reader->refused += !process->is_open;
	}
	return process->is_open ? process : NULL;
}

/* Once a tick, and again for a thread that began after that. */
static void list_threads(struct wall_process *process, uint64_t start_ns, uint64_t now_ns)
{
	struct remote *remote = &process->remote;

	if ((process->listed_ns == now_ns && process->listing_ns > start_ns) ||
	    (!remote->python && !remote->ruby))
		return;
	process->listed_ns = now_ns;
	process->listing_ns = monotonic_ns();
	memory_forget(&remote->mem);
	if (remote->python)
		remote_python_list(remote);
	if (remote->ruby)
		remote_ruby_list(remote);
}

static bool is_same_call(const struct task_call *a, const struct task_call *b)
{
	return !b->is_running && a->number == b->number && a->sp == b->sp && a->pc == b->pc &&
	       memcmp(a->arguments, b->arguments, sizeof a->arguments) == 0;
}

/* A thread that has just begun may have no frame yet that shows its name: it is read again. */
static void read_name(struct wall_reader *reader, struct remote *remote,
		      const struct walk_states *states, struct wall_thread *thread,
		      uint64_t now_ns)
{
	reader->name = NULL;
	if (thread->named_ns != 0 && now_ns - thread->named_ns < NAME_NS)
		return;
	reader->name = thread_name_read(remote, states, &reader->stack);
	if (reader->name != NULL)
		thread->named_ns = now_ns;
}

/*
 * Ruby sleeps, and waits for its own locks and for children, in one and the same call: which of them
 * it is, the stack shows, which may be of a later wait.
 */
static bool is_known_by_stack(const struct wait_thread *met)
{
	return met->states.ruby != 0 && ruby_wait_is_in(met->call.number);
}

/* Reads a thread's state, by its system call, and its stack, which may be of a later moment. */
static enum wall_reading read_thread(struct wall_reader *reader, struct wall_process *process,
				     struct wall_thread *thread, uint64_t now_ns,
				     uint64_t regions, struct wait *out_wait)
{
	struct remote *remote = &process->remote;
	struct wait_thread met = { .stack = &reader->stack };
	struct task_status status;
	struct task_call again;

	if (task_read_call(thread->pid, thread->tid, &met.call) < 0 || met.call.is_running)
		return WALL_READ_NOTHING;
	reader->met_ns = monotonic_ns();
	if (task_read_status(thread->pid, thread->tid, &status) < 0)
		return WALL_READ_NOTHING;
	thread->inner_tid = status.inner_tid;
	memcpy(reader->kernel_name, status.name, sizeof status.name);
	remote->has_few_descriptors = status.descriptors_most <= DESCRIPTORS_MOST;
	met.state = status.state;
	if (met.state == 'R')
		met.state = 0;
	list_threads(process, thread->start_ns, now_ns);
	memory_forget(&remote->mem);
	remote->walks_until_ns = stack_clock_ns() + WALK_MOST_NS;
	thread_state_find(remote, thread->inner_tid, &met.states);
	const struct walk_registers registers = call_registers(&met.call);

	walk_stack(remote, &registers, &met.states, &reader->stack);
	remote->sockets.is_short = false;
	wait_read(remote, &met, out_wait);
	wall_holders_note(&process->holders, thread, &met, out_wait);
	remote_regions_add(remote, regions, thread->inner_tid, &reader->stack);
	read_name(reader, remote, &met.states, thread, now_ns);
	reader->states = met.states;
	reader->futex = met.call.number == SYS_futex ? met.call.arguments[0] : 0;
	if (out_wait->state == WAIT_STATE_RUNNING || out_wait->state == WAIT_STATE_RUNNABLE)
		return WALL_READ_NOTHING;
	if (task_read_call(thread->pid, thread->tid, &again) < 0 ||
	    !is_same_call(&met.call, &again))
		return is_known_by_stack(&met) ? WALL_READ_NOTHING : WALL_READ_STATE;
	return WALL_READ_STACK;
}

/*
 * Whether the interpreter may have a state for the thread by now that it had not when its threads
 * were listed, once a tick.
 */
static bool is_beginning(const struct wall_reader *reader, const struct remote *remote,
			 const struct wall_thread *thread)
{
	return (remote->python || remote->ruby) && reader->states.python == 0 &&
	       reader->states.ruby == 0 && reader->met_ns < thread->start_ns + BEGINS_NS;
}

enum wall_reading wall_reader_read(struct wall_reader *reader, struct image *image,
				   struct wall_thread *thread, uint64_t now_ns,
				   struct wall_read *out_read)
{
	struct wall_process *process =
		image->mappings != NULL ? process_of(reader, image, now_ns) : NULL;
	struct wait wait = { 0 };

	if (process == NULL)
		return WALL_READ_NOTHING;
	const uint64_t regions = image->ring != NULL ? ring_view_regions(image) : 0;
	const enum wall_reading reading =
		read_thread(reader, process, thread, now_ns, regions, &wait);

	reader->wait = wait;
	if (reading == WALL_READ_NOTHING)
		return reading;
	*out_read = (struct wall_read){
		.state = wait.state,
		.is_provisional = process->is_stale || process->remote.sockets.is_short ||
				  is_beginning(reader, &process->remote, thread),
	};
	if (reading == WALL_READ_STACK) {
		struct image_thread *known = image_find_thread(image, thread->tid);

		if (reader->name != NULL && known != NULL)
			image_thread_name(image, known, reader->name, strlen(reader->name));
		else if (known != NULL && thread->is_coarse)
			image_thread_kernel_name(image, known, reader->kernel_name);
		out_read->has_stack = true;
		out_read->ending = reader->stack.ending;
		out_read->callers = wall_reader_add_callers(reader->rows, &process->remote,
							    &reader->stack, image, now_ns);
		out_read->stack =
			wall_reader_add_label(reader->rows, out_read->callers, wait.label,
					      wait.state == WAIT_STATE_STOPPED);
	}
	return reading;
}

static uint32_t read_interpreted(struct wall_reader *reader, struct image *image,
				 pid_t inner_tid, uint64_t now_ns)
{
	struct wall_process *process =
		image->mappings != NULL ? process_of(reader, image, now_ns) : NULL;
	struct remote *remote = process != NULL ? &process->remote : NULL;
	struct walk_states states = { 0 };

	if (remote == NULL || inner_tid == 0 || (!remote->python && !remote->ruby))
		return 0;
	list_threads(process, 0, now_ns);
	memory_forget(&remote->mem);
	remote->walks_until_ns = stack_clock_ns() + WALK_MOST_NS;
	thread_state_find(remote, inner_tid, &states);
	walk_stack(remote, &(struct walk_registers){ .pc = 0 }, &states, &reader->stack);
	return wall_reader_add_callers(reader->rows, remote, &reader->stack, image, now_ns);
}

uint32_t wall_reader_woken(struct wall_reader *reader, struct image *image,
			   const struct wall_thread *thread, uint32_t callers, uint64_t now_ns)
{
	struct task_call call;

	if (task_read_call(thread->pid, thread->tid, &call) < 0 || !call.is_running)
		return 0;
	if (callers == 0)
		callers = read_interpreted(reader, image, thread->inner_tid, now_ns);
	return wall_reader_add_queue(reader->rows, callers);
}

pid_t wall_reader_owner(struct wall_reader *reader, struct image *image,
			const struct wall_owned_wait *owned, uint64_t now_ns, uint64_t until_ns)
{
	struct wall_process *process =
		image->mappings != NULL ? process_of(reader, image, now_ns) : NULL;

	if (process == NULL)
		return 0;
	memory_forget(&process->remote.mem);
	if (owned->wait.on == WAIT_ON_PYTHON_LOCK) {
		list_threads(process, 0, now_ns);
		return wall_holders_find(&process->holders,
					 &(struct wall_holders_terms){ reader->threads, image,
								       &process->remote, owned,
								       now_ns, until_ns });
	}
	return wait_owner_now(&process->remote, &owned->wait, &owned->states);
}

/*
 * Whether a thread in this futex waits for the same as the wait: some share one futex with other
 * waits, or have one for each thread, and then memory shows for what.
 */
static bool is_for_same(struct wall_reader *reader, const struct image *image,
			const struct wall_owned_wait *owned, uint64_t futex)
{
	const bool is_same_futex = futex / FUTEXES == owned->futex / FUTEXES;
	const struct wait *wait = &owned->wait;
	uint64_t value;

	if (wait->on == WAIT_ON_GIL || wait->on == WAIT_ON_MUTEX || wait->on == WAIT_ON_RWLOCK)
		return is_same_futex;
	if (!table_get(&reader->processes, 0, image->row, &value))
		return false;
	struct wall_process *process = (void *)(uintptr_t)value;
	struct remote *remote = &process->remote;

	if (!process->is_open)
		return false;
	memory_forget(&remote->mem);
	if (wait->on == WAIT_ON_PYTHON_LOCK || wait->on == WAIT_ON_PYTHON_RLOCK)
		return python_lock_has_futex(remote, wait->object, futex);
	if (!is_same_futex || (wait->on != WAIT_ON_GVL && wait->on != WAIT_ON_RUBY_MUTEX))
		return false;
	if (remote_ruby_waits_for_gvl(remote, owned->states.ruby, owned->futex))
		return wait->on == WAIT_ON_GVL;
	return wait->on == WAIT_ON_RUBY_MUTEX &&
	       remote_ruby_receiver(remote, owned->states.ruby).object == wait->object;
}

bool wall_reader_waits_in(struct wall_reader *reader, const struct image *image,
			  const struct wall_thread *thread, const struct wall_owned_wait *owned)
{
	struct task_call call;

	return owned->futex != 0 && task_read_call(thread->pid, thread->tid, &call) == 0 &&
	       !call.is_running && call.number == SYS_futex &&
	       is_for_same(reader, image, owned, call.arguments[0]);
}
