/*
 * contexts - a stack of calls for each of Ruby's execution contexts.
 *
 * A thread has a context, and each of its fibers.  As many stacks as there is room for are kept;
 * one that is not there is made anew of the context's control frames, which are the truth.  That
 * is also how a thread begins whose interpreter was running already, and a child of fork; what a
 * stack made anew loses is when its calls began, so their longest and shortest times are
 * those from then on.
 */
#include "agent/trace/ruby/ruby.h"

#include "agent/trace/calls.h"
#include "agent/trace/map.h"
#include "agent/trace/word.h"

/* Contexts that a thread keeps stacks of: 256, in sets by their address. */
#define SETS 64U
#define WAYS 4U
/* The thread that executed a context last, of all contexts there are. */
#define LAST_ONES 8192U

struct kept_stack {
	u64 context; /* 0: none */
	u64 memory;  /* where its frames are: another context may be made at its address */
	u64 used;    /* the switch at which it was left */
	struct trace_stack stack;
};

/* A slot's, for one thread after the other. */
struct kept_stacks {
	struct kept_stack *in_use; /* whose stack the calls has */
	u64 switches;
	struct kept_stack sets[SETS][WAYS];
};

static struct kept_stacks *kept[TRACE_THREADS];
/*
 * Contexts may move from one thread to another (from 3.3 on, Ractors do).  A thread that had one
 * before, but not last, knows nothing of it.
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

/* The context's, or one to be had: free, or that of the context that was left longest ago. */
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

/* The calls that the context's frames are, outermost first: none is counted. */
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

/* A new thread has the slot, or a child of fork: what was kept is not theirs. */
static void begin_thread(struct call_stack *calls, struct kept_stacks *stacks, u64 context)
{
	struct kept_stack *before = stacks->in_use;

	for (u32 i = 0; i < SETS * WAYS; i++)
		stacks->sets[i / WAYS][i % WAYS].context = 0;
	stacks->in_use = NULL;
	struct kept_stack *own = find(stacks, context);

	/* The calls goes on with the stack that it has: the one before has this one's in turn. */
	if (before != NULL && before != own)
		before->stack = own->stack;
	own->context = context;
	own->memory = trace_word(context, trace_ruby.ec_stack);
	stacks->in_use = own;
	read_frames(calls, context);
}

/* False where there is no memory for another stack. */
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
		/* What was called further in than where it is now has ended, seen or not. */
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
