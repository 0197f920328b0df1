/* Finds the holders of Ruby's GVL and of its Mutexes, from outside the process. */
#include <string.h>

#include "abi/walk_status.h"
#include "remote/process.h"
#include "remote/ruby.h"
#include "remote/ruby_internal.h"
#include "remote/stack.h"
#include "walk/ruby.h"

/*
 * Where the thread that holds the GVL is recorded: 2.7 vm->gvl.owner; then in the ractor, at
 * offset 24 of rb_thread_t: threads.gvl.owner (3.0, 3.1), threads.sched.running (from 3.2 on).
 * The queue of waiting threads, a struct list_head, follows: up to 3.2 after the mutex, from
 * 3.3 on after three flags (thread_pthread.h: rb_global_vm_lock_t, struct rb_thread_sched).
 */
#define THREAD_RACTOR 24U
static const struct gvl_place {
	uint32_t from; /* version >> 8 */
	uint32_t owner, queue;
	bool is_verified; /* by running this version */
} places[] = {
	{ 0x0207, 8, 56, true },    { 0x0300, 336, 384, true }, { 0x0301, 336, 384, true },
	{ 0x0302, 336, 384, true }, { 0x0303, 328, 344, true }, { 0x0304, 328, 344, true },
};
/*
 * Size of the GVL's struct: mutex, queue, conditions; from 3.3 on the mutex is before the
 * owner.
 */
#define GVL_SIZE   192U
#define GVL_BEFORE 40U

/* Of the queue so many nodes are followed beside one for each context: new threads have none. */
#define MOST_NEW 4096U
/*
 * Up to 3.2 a thread that has ended is kept for the next Thread.new: then its stack has the function
 * that threads begin with, and the wait in a condition.
 */
#define KEEPS_LAST  0x0302U
#define KEPT_FRAMES 2U
/* A queue node is a field of its rb_thread_t, within so many bytes. */
#define THREAD_SIZE 1024U
/*
 * Up to 3.1 the condition that the thread waits in follows the node, with another before it; from
 * 3.2 on both are in what one of the first words of the rb_thread_t, before the node, points to.
 */
#define NODE_SIZE   112U
#define NATIVE_SIZE 192U
#define WORDS       10U

/*
 * struct RTypedData: its type, whose first field is the name, and flag 2: the data is embedded.
 */
#define TYPED_TYPE     16U
#define TYPED_FLAG     24U
#define TYPED_EMBEDDED 2U
#define RUBY_T_DATA    0x0c
#define TYPE_NAME_SIZE 16
/* struct rb_monitor: count, owner, mutex. */
#define MONITOR_MUTEX 16U
/* rb_execution_context_t.fiber_ptr is directly before thread_ptr. */
#define FIBER_BEFORE_THREAD 8U

static const struct gvl_place *place_of(const struct remote_ruby *ruby)
{
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (places[i].from == ruby->layout.version >> 8)
			return &places[i];
	}
	return NULL;
}

bool remote_ruby_gvl_is_verified(const struct remote_ruby *ruby)
{
	const struct gvl_place *place = place_of(ruby);

	return place && place->is_verified;
}

/* The first thread's, which lasts as long as the process does; 0: none. */
static uint64_t first_context(const struct remote_ruby *ruby)
{
	const struct ruby_context *first = NULL;

	for (size_t i = 0; i < ruby->count; i++) {
		if (!first || ruby->contexts[i].tid < first->tid)
			first = &ruby->contexts[i];
	}
	return first ? first->context : 0;
}

/*
 * The base of the GVL offsets, for the thread with this context; 0: unknown. A new thread has
 * no context until it first gets the GVL: then the first thread's base is used, and *out_thread
 * is 0.
 */
static uint64_t gvl_base(struct remote *remote, uint64_t context, uint64_t *out_thread)
{
	const struct ruby_layout *layout = &remote->ruby->layout;
	const bool is_new = context == 0;
	uint64_t base;

	if (is_new)
		context = first_context(remote->ruby);
	if (context == 0 ||
	    ruby_read(&remote->mem, out_thread, context, layout->offsets.ec_thread) < 0 ||
	    ruby_read(&remote->mem, &base, *out_thread,
		      layout->context_means == RUBY_CONTEXT_BY_LIST ? layout->offsets.thread_vm
								    : THREAD_RACTOR) < 0)
		return 0;
	if (is_new)
		*out_thread = 0;
	return base;
}

/* The rb_thread_t that holds the GVL; 0: none. */
static uint64_t holder_of(struct remote *remote, uint64_t base)
{
	const struct gvl_place *place = place_of(remote->ruby);
	uint64_t owner;

	return place && base != 0 &&
			       ruby_read(&remote->mem, &owner, base, (uint16_t)place->owner) >=
				       0
		       ? owner
		       : 0;
}

bool remote_ruby_holds_gvl(struct remote *remote, uint64_t context)
{
	uint64_t thread = 0;
	const uint64_t holder = holder_of(remote, gvl_base(remote, context, &thread));

	return holder != 0 && holder == thread;
}

static pid_t tid_of(const struct remote_ruby *ruby, uint64_t thread)
{
	for (size_t i = 0; i < ruby->count && thread != 0; i++) {
		if (ruby->contexts[i].thread == thread)
			return ruby->contexts[i].tid;
	}
	return 0;
}

pid_t remote_ruby_gvl_holder(struct remote *remote, uint64_t context)
{
	uint64_t thread;
	const uint64_t base = gvl_base(remote, context, &thread);
	const uint64_t holder = holder_of(remote, base);
	const pid_t tid = tid_of(remote->ruby, holder);

	if (tid != 0 || (base != 0 && holder == 0))
		return tid;
	/* The context is of a thread that has ended. */
	return tid_of(
		remote->ruby,
		holder_of(remote, gvl_base(remote, first_context(remote->ruby), &thread)));
}

/*
 * The nearest rb_thread_t below the queue node; 0: the node is of a thread without a context.
 */
static uint64_t thread_of_node(const struct remote_ruby *ruby, uint64_t node)
{
	uint64_t found = 0;

	for (size_t i = 0; i < ruby->count; i++) {
		const uint64_t thread = ruby->contexts[i].thread;

		if (thread <= node && node - thread < THREAD_SIZE && thread > found)
			found = thread;
	}
	return found;
}

/* Whether the futex is in what one of the words at this address points to. */
static bool is_pointed_to(struct remote *remote, uint64_t address, uint64_t futex)
{
	uint64_t words[WORDS];

	if (mem_read(&remote->mem, words, sizeof words, address) < 0)
		return false;
	for (size_t i = 0; i < WORDS; i++) {
		if (words[i] != 0 && futex >= words[i] && futex - words[i] < NATIVE_SIZE)
			return true;
	}
	return false;
}

/* Whether the thread with this node waits in the futex. */
static bool is_futex_of(struct remote *remote, uint64_t node, uint64_t futex)
{
	return (futex >= node && futex - node < NODE_SIZE) ||
	       is_pointed_to(remote, node - WORDS * sizeof(uint64_t), futex);
}

/*
 * Whether the thread was given the GVL and has not woken up from its wait for it: it is no longer
 * in the queue.
 */
static bool is_given(struct remote *remote, uint64_t base, uint64_t thread, uint64_t futex)
{
	return thread != 0 && holder_of(remote, base) == thread &&
	       ((futex >= thread && futex - thread < THREAD_SIZE) ||
		is_pointed_to(remote, thread, futex));
}

/* Whether the thread, or what waits in the futex, is in the queue for the GVL. */
static bool is_queued(struct remote *remote, uint64_t base, uint64_t thread, uint64_t futex)
{
	const uint64_t queue = base + place_of(remote->ruby)->queue;
	const size_t most = remote->ruby->count + MOST_NEW;
	uint64_t node = queue;

	for (size_t i = 0; i < most; i++) {
		if (mem_read(&remote->mem, &node, sizeof node, node) < 0 || node == 0 ||
		    node == queue)
			return false;
		if (thread_of_node(remote->ruby, node) == thread ||
		    is_futex_of(remote, node, futex))
			return true;
	}
	return false;
}

bool remote_ruby_waits_for_gvl(struct remote *remote, uint64_t context, uint64_t futex)
{
	const struct gvl_place *place = place_of(remote->ruby);
	uint64_t thread;

	if (!place)
		return false;
	/* Pages that were copied at different moments do not show one queue. */
	memory_forget(&remote->mem);
	const uint64_t base = gvl_base(remote, context, &thread);

	if (base != 0 &&
	    ((futex >= base + place->owner - GVL_BEFORE &&
	      futex < base + place->owner + GVL_SIZE) ||
	     is_queued(remote, base, thread, futex) || is_given(remote, base, thread, futex)))
		return true;
	if (context == 0)
		return false;
	/*
	 * A thread that Ruby keeps for the next Thread.new has the context of the one before until it
	 * first gets the GVL.
	 */
	const uint64_t first = gvl_base(remote, first_context(remote->ruby), &thread);

	return first != 0 && first != base && is_queued(remote, first, UINT64_MAX, futex);
}

/* libruby-3.1.so.3.1, or the program of a Ruby that is built without it. */
static bool is_ruby(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, "libruby", 7) == 0 || strncmp(name, "ruby", 4) == 0;
}

bool remote_ruby_keeps(const struct remote *remote, const struct remote_stack *stack)
{
	size_t of_ruby = 0;

	if (!remote->ruby || remote->ruby->layout.version >> 8 > KEEPS_LAST || !stack ||
	    stack->ending != WALK_COMPLETE)
		return false;
	for (size_t i = 0; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		const struct remote_image *image =
			frame->kind == STACK_NATIVE
				? remote_images_find(&remote->images, frame->address)
				: NULL;

		if (frame->kind != STACK_NATIVE || of_ruby > KEPT_FRAMES)
			return false;
		of_ruby += image && is_ruby(image->path);
	}
	return of_ruby > 0 && of_ruby <= KEPT_FRAMES;
}

bool remote_ruby_waits_for_child(const struct remote *remote, const struct remote_stack *stack)
{
	const struct code_range waitpid = remote->ruby->waitpid;

	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind != STACK_NATIVE)
			return false;
		if (frame->address >= waitpid.start && frame->address < waitpid.end)
			return true;
	}
	return false;
}

/* The data of a typed object, and its type's name; 0: not a typed object. */
static uint64_t typed_data(struct remote *remote, uint64_t object, char name[TYPE_NAME_SIZE])
{
	const uint16_t data_offset = remote->ruby->layout.offsets.typed_data;
	struct mem *mem = &remote->mem;
	uint64_t type, flag, text, data;

	if ((ruby_flags_of(mem, object) & RUBY_TYPE_MASK) != RUBY_T_DATA ||
	    mem_read(mem, &type, sizeof type, object + TYPED_TYPE) < 0 ||
	    mem_read(mem, &flag, sizeof flag, object + TYPED_FLAG) < 0 || flag == 0 ||
	    flag > (1 | TYPED_EMBEDDED) || mem_read(mem, &text, sizeof text, type) < 0 ||
	    mem_read(mem, name, TYPE_NAME_SIZE, text) < 0)
		return 0;
	if (flag & TYPED_EMBEDDED)
		return object + data_offset;
	return ruby_read(mem, &data, object, data_offset) < 0 ? 0 : data;
}

/* rb_mutex_t begins with its holder: a thread in 2.7, a fiber from 3.0 on. */
pid_t remote_ruby_mutex_owner(struct remote *remote, uint64_t mutex)
{
	const struct remote_ruby *ruby = remote->ruby;
	const uint16_t offset =
		(uint16_t)(ruby->layout.offsets.ec_thread - FIBER_BEFORE_THREAD);
	uint64_t owner, fiber;

	if (mem_read(&remote->mem, &owner, sizeof owner, mutex) < 0 || owner == 0)
		return 0;
	for (size_t i = 0; i < ruby->count; i++) {
		if (ruby->contexts[i].thread == owner ||
		    (ruby_read(&remote->mem, &fiber, ruby->contexts[i].context, offset) >= 0 &&
		     fiber == owner))
			return ruby->contexts[i].tid;
	}
	return 0;
}

struct ruby_receiver remote_ruby_receiver(struct remote *remote, uint64_t context)
{
	const struct ruby_offsets *offsets = &remote->ruby->layout.offsets;
	struct ruby_receiver receiver = { 0 };
	char name[TYPE_NAME_SIZE];
	uint64_t frame, self, data, mutex;

	if (context == 0 || ruby_read(&remote->mem, &frame, context, offsets->ec_frame) < 0 ||
	    ruby_read(&remote->mem, &self, frame, offsets->frame_self) < 0)
		return receiver;
	data = typed_data(remote, self, name);
	if (data != 0 && memcmp(name, "monitor", sizeof "monitor") == 0 &&
	    mem_read(&remote->mem, &mutex, sizeof mutex, data + MONITOR_MUTEX) >= 0)
		data = typed_data(remote, mutex, name);
	if (data == 0)
		return receiver;
	if (memcmp(name, "VM/thread", sizeof "VM/thread") == 0)
		return (struct ruby_receiver){ data, true, tid_of(remote->ruby, data) };
	if (memcmp(name, "mutex", sizeof "mutex") == 0)
		return (struct ruby_receiver){ data, false,
					       remote_ruby_mutex_owner(remote, data) };
	return receiver;
}
