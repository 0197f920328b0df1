/*
 * trace - calls, counted and timed where they happen.
 *
 * In place of samples: the recorder says so in the ring's flags (RING_TRACE).  Which hooks an
 * interpreter has for that, and how they come into a program without changing it, is
 * python/profile_function.c's (CPython 3.6 to 3.10), python/frames.h's
 * (3.11), python/stubs.h's and python/monitoring.c's (from 3.12 on) and ruby/ruby.h's;
 * native/native.h is about compiled code.  tree.h has what is counted, names.h what
 * it is called.  An interpreter's hooks run between two of its instructions, never in a signal
 * handler; those of compiled code wherever it runs.
 */
#pragma once
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/arch.h"
#include "agent/trace/clock.h"
#include "agent/trace/tree.h"

/* A call as a hook tells of it. */
struct trace_call {
	u64 identity; /* of the callee: never 0 */
	u64 object;   /* struct trace_entry has these */
	u64 named;
	u64 frame;
	enum trace_kind kind;
};

/* The calling thread's; NULL: it has none so far. */
extern __thread struct tracer *trace_own;

/* Where the recorder has made room for a trace; else nothing happens. */
void trace_begin(struct ring_header *ring);
struct link_map;

/*
 * An interpreter that came later may begin in this image (late.h): what the recorder has
 * told of it since.
 */
void trace_begin_late(const struct link_map *image);
/* Python has been unloaded. */
void trace_forget_python(void);
/* In a child of fork: what the parent counted is the parent's. */
void trace_forget(void);
/*
 * The same in a child that nobody tells of (raw_forks.c): it has the parent's tree before it, and its
 * own copy of what says where in it the next node is made.
 */
void trace_abandon(void);
/* In a child of fork that is traced itself: what it is executing stands in its own tree. */
void trace_adopt(void);

/* A call that is being executed, and did not begin where it would have been counted. */
void trace_stand(struct tracer *tracer, const struct trace_call *call);
/* The same of entries that are another tree's, outermost first. */
void trace_stand_again(struct tracer *tracer, const struct trace_entry *entries, u32 count);
/* The calling thread's calls, counted for a while where nobody reads them. */
struct trace_aside {
	struct tracer tracer; /* the caller's to read before it ends; its entries are kept */
	struct tracer *own;   /* the thread's from before */
	bool was_off;
};
/*
 * Counts in an area of its own, also where tracing is off, until trace_end_aside(); false:
 * there is no memory.  What is done meanwhile is in nobody's time.  By one thread at a time.
 */
bool trace_begin_aside(struct trace_aside *aside);
void trace_end_aside(struct trace_aside *aside);
/* Begins to count the calling thread; NULL: it cannot be. */
struct tracer *trace_begin_thread(void);
/*
 * One more stack for a thread that switches stacks, empty (trace_switch_stack()); false: there is
 * no memory.  As no stack is ever given back, who has done with one keeps it for another.
 */
bool trace_make_stack(const struct tracer *tracer, struct trace_stack *out_stack);
/*
 * A call that is not of the callee that was its caller's last, or at which the processor's pace is
 * due (pace.h).  Not a struct: that would be put together in memory at each call, for those of
 * the other kind as well.
 */
void trace_enter_elsewhere(struct tracer *tracer, u64 identity, u64 object, u64 named,
			   u64 frame, enum trace_kind kind);
/* What the area says of this process from now on. */
void trace_set_status(enum trace_status status);
void trace_set_means(enum trace_means means);
/* Another profiler is about to take the place of ours. */
void trace_note_other_tool(void);
/*
 * The interpreter's layout; NULL: nothing is traced, or there is none.  Lives as long as the
 * process.
 */
const struct python_layout *trace_layout(void);
/* The area in use, or NULL. */
struct trace_area *trace_area_of_process(void);

/*
 * The program puts up a filter that forbids mmap() or gettid(), which a thread's first event
 * takes: those that have begun go on.
 */
void trace_forbid_threads(void);
/* It is about to forbid that the counter be read: calls are counted, and take no time. */
void trace_forbid_counter(void);

/*
 * By the program (control.h): calls are followed as before, but not counted, and take no time.
 */
void trace_switch_off(void);
void trace_switch_on(void);

static inline struct tracer *trace_of_thread(void)
{
	struct tracer *own = trace_own;

	return __builtin_expect(own != NULL, 1) ? own : trace_begin_thread();
}

/*
 * regions.c: the innermost call may be of a generator, or a coroutine, that had regions
 * when it was left: they are open again.
 */
void trace_region_return(struct tracer *tracer);

/*
 * The time since the last event is nobody's: searching for a node, and naming it, took it.  Says how
 * long it was, in ticks.
 */
u64 trace_leave_out(struct tracer *tracer);
/* Events of a handler went to another tree while the caller was at this one: so does their time. */
void trace_skip(struct tracer *tracer);

/* By value, so that it is put together in registers. */
static inline __attribute__((always_inline)) void trace_enter(struct tracer *tracer,
							      struct trace_call call, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(tracer, level);
	trace_advance(tracer, now);
	const u32 node = trace_likely_child(tracer, tracer->top->node, call.identity);

	if (__builtin_expect(node == TRACE_NO_NODE || now >= tracer->pace_due, 0))
		trace_enter_elsewhere(tracer, call.identity, call.object, call.named,
				      call.frame, call.kind);
	else
		trace_push(tracer, node,
			   (struct trace_entry){ .object = call.object,
						 .named = call.named,
						 .frame = call.frame,
						 .kind = call.kind,
						 .start_ticks = now });
	if (!trace_give(tracer, level))
		trace_skip(tracer);
	if (__builtin_expect(tracer->has_waiting, 0))
		trace_region_return(tracer);
}

/* trace_close(), by whoever has not taken the tree. */
static inline __attribute__((always_inline)) void trace_leave(struct tracer *tracer, u64 object,
							      u64 frame, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(tracer, level);
	trace_close(tracer, object, frame, now);
	if (!trace_give(tracer, level))
		trace_skip(tracer);
}

/* trace_switch_stack(), by whoever has not taken the tree. */
static inline void trace_change_stack(struct tracer *tracer, const struct trace_stack *to,
				      struct trace_stack *out_left, u64 now)
{
	const u64 level = arch_stack_pointer();

	trace_take(tracer, level);
	trace_switch_stack(tracer, to, out_left, now);
	if (!trace_give(tracer, level))
		trace_skip(tracer);
}

/*
 * Of words that make an identity: each is turned by another number of bits, so that they do not
 * cancel each other out where they are alike.
 */
static inline u64 trace_rotate(u64 word, u32 bits)
{
	return word << bits | word >> (64 - bits);
}

/* python/profile_function.c: */
void trace_python_begin(const struct python_layout *layout);
/* Has the main thread find out what measuring costs, as soon as it can; once. */
void trace_python_calibrate(void);
/* A thread has said which thread state is its own. */
void trace_python_see_state(const struct python_layout *layout, u64 state);
/* From 3.8 on, where the better way is not to be had; with the GIL. */
void trace_python_fall_back(void);
/*
 * The profile function of the calling thread, where calls are seen by that, if it has none now.
 * Says whether it has another's.
 */
bool trace_python_put_back(void);
/* The same of all threads, where the calling one has none; with the GIL. */
void trace_python_put_back_all(void);
/* What the calling thread has; 0: none, or calls are seen in another way. */
u64 trace_python_function(void);
/* Whether calls are seen by a profile function. */
bool trace_python_is_by_function(void);
/* Whether the calling thread has ours. */
bool trace_python_has_function(void);
/* There will be other interpreters, whose thread states are not seen to begin. */
void trace_python_meet_interpreters(void);
/* Of the layout, what each event needs; beside each other, for they are read at each. */
struct trace_objects {
	u64 function_type; /* PyFunction_Type */
	u64 builtin_type;
	u64 method_type; /* PyCMethod_Type, from 3.9 on: a subtype of the former; or its address */
	u64 descriptor_type;
	u16 object_type, builtin_method, descriptor_method;
	u16 code_filename, code_name, code_table;
};
extern struct trace_objects trace_objects;
/* Before the first event. */
void trace_python_find_objects(const struct python_layout *layout);

static inline u64 trace_word(u64 object, u16 member)
{
	return *(const u64 *)(object + member);
}

/*
 * What tells a code object from another one that is made at its address: those of its members
 * that lie side by side.
 */
static inline u64 trace_python_identity(u64 code)
{
	return code ^ trace_rotate(trace_word(code, trace_objects.code_filename), 17) ^
	       trace_rotate(trace_word(code, trace_objects.code_name), 31) ^
	       trace_rotate(trace_word(code, trace_objects.code_table), 47);
}

/* The PyMethodDef of what is called; 0: it is no C function. */
static inline u64 trace_python_method(u64 callable)
{
	const u64 type = trace_word(callable, trace_objects.object_type);

	if (type == trace_objects.function_type)
		return 0;
	if (type == trace_objects.builtin_type || type == trace_objects.method_type)
		return trace_word(callable, trace_objects.builtin_method);
	if (type == trace_objects.descriptor_type)
		return trace_word(callable, trace_objects.descriptor_method);
	return 0;
}

/* ml_name and ml_meth. */
static inline u64 trace_python_method_identity(u64 method)
{
	return method ^ trace_rotate(trace_word(method, 0), 17) ^
	       trace_rotate(trace_word(method, sizeof(u64)), 31);
}

/* regions.c: */
struct region;
struct region_asking;
/*
 * A region of the calling thread begins, or ends, below the calls that ask for it: the
 * innermost one of a C function, and those of asking (NULL: there are none).
 */
void trace_region_begin(const struct region *region, const struct region_asking *asking);
void trace_region_end(u64 serial);
/* Of a region's name. */
u64 trace_region_identity(u64 name);

/* python/monitoring.c: */
void trace_monitoring_begin(const struct python_layout *layout);
/* From 3.15 on, where states are not seen: Python may be about to begin once more. */
void trace_monitoring_begin_again(void);
void trace_monitoring_see_state(const struct python_layout *layout, u64 state);
