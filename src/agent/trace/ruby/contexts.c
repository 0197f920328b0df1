/*
 * contexts - keeps a call stack for each of Ruby's execution contexts.
 *
 * Each thread and each fiber has an execution context.  A limited number of stacks is kept; a
 * missing one is rebuilt from the context's control frames, which are the truth.  So does a thread
 * begin whose interpreter was running already, and a child of fork.  A rebuilt stack does not have
 * the times at which its calls began, so their times count from then on.
 */
#include "agent/trace/ruby/ruby.h"

#include "agent/trace/calls.h"
#include "agent/trace/map.h"
#include "agent/trace/word.h"

/* A thread keeps the stacks of 256 contexts, in sets by their address. */
#define SETS 64U
#define WAYS 4U
/* Size of the table of the thread that executed each context last. */
#define LAST_ONES 8192U

struct kept_stack {
	u64 context; /* 0: none */
	u64 memory; /* where its frames are; distinguishes a later context at the same address */
	u64 used;   /* the switch at which it was left */
	struct trace_stack stack;
};

/* The stacks of a thread's slot, which threads use one after the other. */
struct kept_stacks {
	struct kept_stack *in_use; /* its stack is in the struct call_stack */
	u64 switches;
	struct kept_stack sets[SETS][WAYS];
};

static struct kept_stacks *kept[TRACE_THREADS];
/*
 * Contexts may move from one thread to another (from 3.3 on, Ractors do).  The stack that a
 * thread has kept for a context is stale unless it was the last to execute that context.
 */
static u32 last_threads[LAST_ONES];
__thread u64 trace_ruby_context;

static u32 *last_thread_of(u64 context)
{
	return &last_threads[(context >> 4 ^ context >> 17) % LAST_ONES];
}

static struct kept_stacks *stacks_of(const struct call_stack *calls)
{
	struct kept_stacks **place = &kept[calls->slot];

	if (*place == NULL)
		*place = trace_map(sizeof **place);
	return *place;
}

/* The context's kept stack, or one to reuse: free, or that of the context left longest ago. */
static struct kept_stack *find(struct kept_stacks *stacks, u64 context)
{
	struct kept_stack *set = stacks->sets[(context >> 4 ^ context >> 12) % SETS];
	struct kept_stack *oldest = NULL;

	for (u32 i = 0; i < WAYS; i++) {
		if (set[i].context == context)
			return &set[i];
		if (&set[i] == stacks->in_use)
			continue;
		if (oldest == NULL || set[i].context == 0 ||
		    (oldest->context != 0 && set[i].used < oldest->used))
			oldest = &set[i];
	}
	return oldest;
}

/* Enters the calls of the context's frames, outermost first, without counting them. */
static void read_frames(struct call_stack *calls, u64 context)
{
	const u64 innermost = trace_word(context, trace_ruby.ec_frame);
	const u64 stack = trace_word(context, trace_ruby.ec_stack);
	const u64 words = trace_word(context, trace_ruby.ec_stack_size);
	const u64 end = stack + words * sizeof(u64);

	if (stack == 0 || innermost < stack || innermost > end)
		return;
	for (u64 frame = end - trace_ruby.frame_size; frame >= innermost;
	     frame -= trace_ruby.frame_size) {
		struct trace_call call;

		if (trace_ruby_read_frame(frame, &call))
			trace_stand(calls, &call);
	}
}

/* A new thread has the slot, or a child of fork: drops the stacks that were kept. */
static void begin_thread(struct call_stack *calls, struct kept_stacks *stacks, u64 context)
{
	struct kept_stack *before = stacks->in_use;

	for (u32 i = 0; i < SETS * WAYS; i++)
		stacks->sets[i / WAYS][i % WAYS].context = 0;
	stacks->in_use = NULL;
	struct kept_stack *own = find(stacks, context);

	/* The thread keeps the stack in use; the previous owner gets this context's. */
	if (before != NULL && before != own)
		before->stack = own->stack;
	own->context = context;
	own->memory = trace_word(context, trace_ruby.ec_stack);
	stacks->in_use = own;
	read_frames(calls, context);
}

/* Empties a kept stack, or makes one.  False: out of memory. */
static bool take(struct call_stack *calls, struct kept_stack *stack)
{
	if (stack->stack.entries == NULL)
		return trace_make_stack(calls, &stack->stack);
	trace_empty_stack(calls, &stack->stack);
	return true;
}

static void switch_to(struct call_stack *calls, struct kept_stacks *stacks, u64 context,
		      u64 now)
{
	struct kept_stack *next = find(stacks, context);
	struct kept_stack *left = stacks->in_use;
	const u64 memory = trace_word(context, trace_ruby.ec_stack);
	const bool is_known = next->context == context && next->memory == memory &&
			      *last_thread_of(context) == calls->slot + 1;

	if (next == left || (!is_known && !take(calls, next))) {
		trace_ruby_restart(calls, context, now);
		return;
	}
	left->used = ++stacks->switches;
	trace_change_stack(calls, &next->stack, &left->stack, now);
	next->context = context;
	next->memory = memory;
	stacks->in_use = next;
	if (is_known)
		/* Ends calls further in than the present frame: an end may have been missed. */
		trace_ruby_end_from(
			calls, trace_word(context, trace_ruby.ec_frame) - trace_ruby.frame_size,
			now);
	else
		read_frames(calls, context);
}

void trace_ruby_restart(struct call_stack *calls, u64 context, u64 now)
{
	struct kept_stacks *stacks = stacks_of(calls);

	if (stacks != NULL && stacks->in_use != NULL) {
		stacks->in_use->context = context;
		stacks->in_use->memory = trace_word(context, trace_ruby.ec_stack);
	}
	trace_ruby_context = context;
	trace_ruby_end_from(calls, ~0ULL, now);
	read_frames(calls, context);
}

void trace_ruby_switch(struct call_stack *calls, u64 context, u64 now)
{
	struct kept_stacks *stacks = stacks_of(calls);

	if (stacks == NULL)
		trace_ruby_restart(calls, context, now);
	else if (trace_ruby_context == 0)
		begin_thread(calls, stacks, context);
	else
		switch_to(calls, stacks, context, now);
	trace_ruby_context = context;
	*last_thread_of(context) = calls->slot + 1;
}
