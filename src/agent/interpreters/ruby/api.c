#include "agent/interpreters/ruby/api.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/ruby/collector.h"
#include "agent/interpreters/ruby/scratch.h"
#include "agent/interpreters/ruby/state.h"
#include "walk/ruby.h"
#include "walk/ruby_call.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"

#define MOST_FRAMES 128
/* Up to 2.7, rb_profile_frames() returns no frames of methods in C. */
#define RUBY_PROFILES_C 0x030000

enum { NOT_ASKED, ASKED, DONE };

/* One job at a time, and it has the GVL. */
static struct {
	u32 state;
	u32 result; /* enum ring_ruby_check */
	u64 frames[MOST_FRAMES];
	int lines[MOST_FRAMES];
	struct memory_copies copies;
	struct name_text texts[3];
} api;

static u64 field_of(struct mem *mem, u64 object, u16 offset)
{
	u64 value;

	return ruby_read(mem, &value, object, offset) < 0 ? 0 : value;
}

/* Whether the interpreter and we have the same name for a method in C. */
static bool agrees_on_name(struct mem *mem, const struct ruby_layout *layout,
			   const struct ruby_frame *frame)
{
	const char *(*const name_of)(u64) = (const char *(*)(u64))layout->functions.id2name;
	const u64 definition = field_of(mem, frame->method, layout->offsets.method_definition);
	const u64 id = field_of(mem, definition, layout->offsets.definition_id);
	struct ruby_code code;
	const char *name;

	if (name_of == NULL)
		return true;
	name = name_of(id);
	if (name == NULL || ruby_code_read(mem, layout, frame, &code) < 0)
		return false;
	return ruby_code_texts(mem, layout, &code, &api.texts[0], &api.texts[1],
			       &api.texts[2]) >= 0 &&
	       name_text_is(&api.texts[0], name);
}

static u64 iseq_of_method(struct mem *mem, const struct ruby_offsets *offsets, u64 method)
{
	const u64 definition = field_of(mem, method, offsets->method_definition);

	return field_of(mem, definition, offsets->definition_iseq);
}

static bool agrees_on_code(struct mem *mem, const struct ruby_layout *layout,
			   const struct ruby_frame *frame, u64 theirs)
{
	const struct ruby_functions *functions = &layout->functions;
	u64 (*const path_of)(u64) = (u64(*)(u64))functions->profile_frame_path;
	u64 (*const label_of)(u64) = (u64(*)(u64))functions->profile_frame_label;
	u64 (*const line_of)(u64) = (u64(*)(u64))functions->profile_frame_first_lineno;
	struct ruby_code code;

	/* rb_profile_frames() shows blocks and evaluated code as their method. */
	if (theirs != frame->iseq &&
	    iseq_of_method(mem, &layout->offsets, theirs) != frame->iseq)
		return true;
	return ruby_code_read(mem, layout, frame, &code) >= 0 &&
	       (path_of == NULL || path_of(theirs) == code.path) &&
	       (label_of == NULL ||
		label_of(theirs) == field_of(mem, frame->body, layout->offsets.body_label)) &&
	       (line_of == NULL || line_of(theirs) >> 1 == code.first_line);
}

/* Whether one of our frames agrees with number `place` of theirs. */
static bool agrees_on_frame(struct mem *mem, const struct ruby_layout *layout,
			    const struct ruby_frame *frame, u32 place)
{
	const u64 theirs = api.frames[place];
	const int line = api.lines[place];

	if (frame->kind == RUBY_FRAME_BLOCK_C)
		return theirs == frame->method;
	if (frame->kind == RUBY_FRAME_BASE)
		return theirs == frame->iseq;
	if (frame->kind == RUBY_FRAME_C)
		return theirs == frame->method && agrees_on_name(mem, layout, frame);
	if (theirs != frame->method && theirs != frame->iseq)
		return false;
	/* The innermost frame's line is 0 where it runs as machine code. */
	if (line != 0 && (u32)line != ruby_line_of(mem, layout, frame, 0))
		return false;
	return agrees_on_code(mem, layout, frame, theirs);
}

/*
 * A frame that was pushed for an extension's Init function: up to 3.1, rb_profile_frames() takes
 * it for one of Ruby code (vm_backtrace.c; from 3.2 on it requires a pc).
 */
#define RUBY_PROFILES_NO_INIT 0x030200

static bool is_of_init(const struct ruby_layout *layout, const struct ruby_frame *frame)
{
	return frame->kind == RUBY_FRAME_BASE && frame->iseq != 0 &&
	       layout->version < RUBY_PROFILES_NO_INIT;
}

/* A block in C, which has no name, is profiled as the method in C that it was made in. */
static bool is_of_c_method(struct mem *mem, const struct ruby_layout *layout,
			   const struct ruby_frame *frame)
{
	const u64 definition = field_of(mem, frame->method, layout->offsets.method_definition);

	return frame->method != 0 &&
	       (field_of(mem, definition, 0) & RUBY_METHOD_TYPE_MASK) == RUBY_METHOD_C;
}

static bool is_profiled(struct mem *mem, const struct ruby_layout *layout,
			const struct ruby_frame *frame)
{
	if (frame->kind == RUBY_FRAME_ISEQ || is_of_init(layout, frame))
		return true;
	if (layout->version < RUBY_PROFILES_C)
		return false;
	return frame->kind == RUBY_FRAME_C ||
	       (frame->kind == RUBY_FRAME_BLOCK_C && is_of_c_method(mem, layout, frame));
}

/* Compares our walk with theirs, which has `count` frames. */
static bool agrees(struct mem *mem, const struct ruby_layout *layout, u32 count)
{
	const u64 context = ruby_find_context(mem, layout);
	struct ruby_frame frame = { 0 };
	enum ruby_step step = RUBY_FRAME;
	struct ruby_walk walk;
	u32 place = 0;

	if (!ruby_is_context(mem, layout, context, arch_thread_pointer()) ||
	    ruby_begin(mem, layout, context, &walk) < 0)
		return false;
	/* No frame is being made at this point: the innermost is not to be doubted. */
	walk.is_settled = 1;
	while (place < count && (step = ruby_next(mem, &walk, &frame)) == RUBY_FRAME) {
		if (!is_profiled(mem, layout, &frame))
			continue;
		if (!agrees_on_frame(mem, layout, &frame, place++))
			return false;
	}
	/* The main thread's base frame looks like one that executes (vm.c, Init_VM()). */
	return place == count || (step == RUBY_END && place + 1 == count);
}

/* Begins to read memory in the job, as in a handler that interrupted the thread here. */
static void begin_memory(struct mem *mem, struct ring_header *ring, ucontext_t *context)
{
	const u64 here = (u64)__builtin_frame_address(0);
	const struct walk walk = { .ring = ring };
	u64 mask = 0;

	__builtin_memset(context, 0, sizeof *context);
	arch_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof mask);
	__builtin_memcpy(&context->uc_sigmask, &mask, sizeof mask);
	memory_begin(mem, &api.copies, here, here);
	if (!mem->is_own_stack)
		ruby_find_stack(&walk, mem);
	memory_allow_loads(mem, context);
}

static void check(struct ring_header *ring, const struct ruby_layout *layout)
{
	int (*const profile)(int, int, u64 *, int *) =
		(int (*)(int, int, u64 *, int *))layout->functions.profile_frames;
	const int count = profile(0, MOST_FRAMES, api.frames, api.lines);
	ucontext_t context;
	struct mem mem;

	if (count <= 0) {
		__atomic_store_n(&api.state, NOT_ASKED, __ATOMIC_RELAXED);
		return;
	}
	begin_memory(&mem, ring, &context);
	const bool is_right = agrees(&mem, layout, (u32)count);

	/* Without loads, copies may have run out before the end of a deep stack. */
	if (!is_right && mem.loads != MEMORY_LOADS) {
		__atomic_store_n(&api.state, NOT_ASKED, __ATOMIC_RELAXED);
		return;
	}
	if (is_right)
		ruby_collector_install(layout);
	api.result = is_right ? RING_RUBY_AGREES : RING_RUBY_DIFFERS;
	__atomic_store_n(&ring->ruby_check, api.result, __ATOMIC_RELAXED);
	/* Pairs with the acquire in ruby_api_ask(). */
	__atomic_store_n(&api.state, DONE, __ATOMIC_RELEASE);
}

/* rb_postponed_job_func_t */
static void on_job(void *data)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);
	const int saved_errno = errno;

	(void)data;
	const struct ruby_layout *layout = ring != NULL ? layouts_ruby(ring) : NULL;

	if (__atomic_load_n(&api.state, __ATOMIC_RELAXED) != DONE && layout != NULL)
		check(ring, layout);
	errno = saved_errno;
}

/* What preregistering returns when there is no slot left (vm_trace.c of 3.3). */
#define NO_HANDLE 0xffffffffU

/* Requests the job; up to 3.2, one for which Ruby had no slot is requested again. */
static void ask(const struct ruby_functions *functions)
{
	u32 (*const preregister)(u32, void (*)(void *), void *) =
		(u32(*)(u32, void (*)(void *), void *))functions->postponed_job_preregister;
	void (*const trigger)(u32) = (void (*)(u32))functions->postponed_job_trigger;
	int (*const register_one)(u32, void (*)(void *), void *) =
		(int (*)(u32, void (*)(void *), void *))functions->postponed_job_register_one;

	if (preregister != NULL && trigger != NULL) {
		const u32 handle = preregister(0, on_job, NULL);

		if (handle != NO_HANDLE)
			trigger(handle);
	} else if (register_one != NULL && register_one(0, on_job, NULL) == 0) {
		__atomic_store_n(&api.state, NOT_ASKED, __ATOMIC_RELAXED);
	}
}

void ruby_api_ask(const struct walk *walk, bool has_gvl)
{
	const struct ruby_layout *layout = walk->ruby->layout;
	u32 state = __atomic_load_n(&api.state, __ATOMIC_ACQUIRE);

	if (state == DONE) {
		/* In a child of fork, which has a ring of its own. */
		if (__atomic_load_n(&walk->ring->ruby_check, __ATOMIC_RELAXED) ==
		    RING_RUBY_UNCHECKED)
			__atomic_store_n(&walk->ring->ruby_check, api.result, __ATOMIC_RELAXED);
		return;
	}
	if (state != NOT_ASKED || layout->functions.profile_frames == 0 ||
	    (!has_gvl && layout->functions.postponed_job_trigger == 0))
		return;
	if (__atomic_compare_exchange_n(&api.state, &state, ASKED, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		ask(&layout->functions);
}

void ruby_api_forget(void)
{
	u32 asked = ASKED;

	__atomic_compare_exchange_n(&api.state, &asked, NOT_ASKED, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}
