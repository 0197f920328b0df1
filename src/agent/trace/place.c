/*
 * place - finds the node of a call's callee in the thread's tree, off the fast path; makes and
 * names the node if there is none.
 */
#include "agent/core/arch.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/names.h"
#include "agent/trace/processor_speed.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/regions.h"

/* Flips a bit of the identity of a node without a name, so that the fast path does not find it. */
#define NAMELESS (1ULL << 63)

/* Inlined, as every search ends with it. */
static inline __attribute__((always_inline)) u64 leave_out(struct call_stack *calls)
{
	const u64 now = trace_now();

	if (now <= calls->last_ticks)
		return 0;
	const u64 ticks = now - calls->last_ticks;

	calls->area->threads[calls->slot].left_out_ticks += ticks;
	calls->last_ticks = now;
	return ticks;
}

u64 trace_leave_out(struct call_stack *calls)
{
	return leave_out(calls);
}

/* The identity that the call's hook computed; 0: none is kept. */
static u64 identity_of(const struct trace_entry *entry)
{
	switch ((enum trace_kind)entry->kind) {
	case TRACE_KIND_PYTHON:
	case TRACE_KIND_PYTHON_UNCALLED:
	case TRACE_KIND_PYTHON_RESUMED:
		return trace_python_identity(entry->object);
	case TRACE_KIND_PYTHON_BUILTIN:
	case TRACE_KIND_PYTHON_METHOD:
	case TRACE_KIND_PYTHON_BUILTIN_MANY:
	case TRACE_KIND_PYTHON_METHOD_MANY:
		return trace_python_method_identity(entry->object);
	case TRACE_KIND_REGION:
		return trace_region_identity(entry->named);
	case TRACE_KIND_INSTRUMENTED:
	case TRACE_KIND_MCOUNT:
	case TRACE_KIND_FENTRY:
		return entry->object;
	case TRACE_KIND_RUBY:
	case TRACE_KIND_RUBY_BUILTIN:
	case TRACE_KIND_RUBY_OPERATOR:
		/* Ruby's open calls are read from its frames at the next event (ruby/contexts.c). */
	case TRACE_KIND_OUTSIDE:
	case TRACE_KIND_COUNT:
		break;
	}
	return 0;
}

/* Tries again to send the name of a node that was made when the ring was full. */
static u32 name_again(struct call_stack *calls, const struct trace_call *call, u32 nameless)
{
	struct trace_node *node = trace_node_at(calls, nameless);
	const u64 key = trace_name_of(call);

	if (key == 0) {
		calls->has_nameless = 1;
		return nameless;
	}
	trace_rename(calls, nameless, call->identity);
	__atomic_store_n(&node->key, key, __ATOMIC_RELEASE);
	return nameless;
}

/* Kinds whose name can be read from the entry while the call runs. */
static bool can_be_named(enum trace_kind kind)
{
	return kind == TRACE_KIND_PYTHON || kind == TRACE_KIND_REGION;
}

/*
 * A name that did not fit is sent when its function is called again.  For a function that is called
 * once and runs long, such as a program's outermost, it is sent as soon as the ring has room.
 */
static void name_executed(struct call_stack *calls)
{
	struct trace_entry *entry = calls->top;

	calls->has_nameless = 0;
	for (; entry > calls->entries && calls->has_nameless == 0; entry--) {
		const struct trace_call call = { identity_of(entry), entry->object,
						 entry->named, entry->frame,
						 (enum trace_kind)entry->kind };

		/* Skips an entry with another call's node: the table was full. */
		if (can_be_named(call.kind) &&
		    trace_node_at(calls, entry->node)->identity == (call.identity ^ NAMELESS))
			name_again(calls, &call, entry->node);
	}
}

static u32 add_call(struct call_stack *calls, u32 parent, const struct trace_call *call)
{
	/* The recorder reads no names from a separate area (calibrate.h). */
	const u64 key =
		calls->area == trace_area_of_process() ? trace_name_of(call) : TRACE_UNNAMED;
	calls->has_nameless |= key == 0;
	return trace_add_child(calls, parent, trace_kind_of(call, calls->top),
			       key != 0 ? call->identity : call->identity ^ NAMELESS, key);
}

/* Finds or makes the node of a callee. */
static u32 place(struct call_stack *calls, const struct trace_call *call)
{
	const u32 parent = calls->top->node;
	u32 node = trace_likely_child(calls, parent, call->identity);

	if (node == TRACE_NO_NODE)
		node = trace_find_child(calls, parent, call->identity);
	if (node != TRACE_NO_NODE)
		return node;
	if (trace_node_at(calls, parent)->depth >= trace_depth_limit(calls))
		node = trace_find_merged(calls, parent, call->identity, false);
	if (node != TRACE_NO_NODE)
		return node;
	node = trace_likely_child(calls, parent, call->identity ^ NAMELESS);
	if (node == TRACE_NO_NODE)
		node = trace_find_child(calls, parent, call->identity ^ NAMELESS);
	if (node != TRACE_NO_NODE)
		return name_again(calls, call, node);
	node = add_call(calls, parent, call);
	return node != TRACE_NO_NODE ? node
				     : trace_find_merged(calls, parent, call->identity, true);
}

__attribute__((noinline)) void trace_enter_elsewhere(struct call_stack *calls, u64 identity,
						     u64 object, u64 named, u64 frame,
						     enum trace_kind kind)
{
	const struct trace_call call = { identity, object, named, frame, kind };

	if (__builtin_expect(calls->has_nameless, 0) && trace_names_have_room())
		name_executed(calls);
	const u32 node = place(calls, &call);

	/* The overheads may not be in the cache: that time counts as part of the search. */
	if (node != TRACE_NO_NODE)
		calls->area->overheads[node].misses += calls->is_off ^ 1;
	if (__builtin_expect(calls->last_ticks >= calls->speed_due, 0))
		trace_speed_look(calls);
	/* New nodes only: a search takes little, and correcting all open calls would take more. */
	if (node != TRACE_NO_NODE && trace_node_at(calls, node)->calls == 0 && !calls->is_off)
		trace_leave_out_of_calls(calls, leave_out(calls));
	leave_out(calls);
	trace_push(calls, node,
		   (struct trace_entry){ .object = call.object,
					 .named = call.named,
					 .frame = call.frame,
					 .kind = call.kind,
					 .start_ticks = calls->last_ticks });
}

void trace_stand(struct call_stack *calls, const struct trace_call *call)
{
	const u64 level = arch_stack_pointer();
	struct trace_call known = *call;

	/* A running frame does not show how its function was called. */
	if (trace_call_kind_is_python(known.kind))
		known.frame = 0;
	trace_take(calls, level);
	const u32 node = place(calls, &known);

	if (calls->top != calls->limit) {
		*(calls->top + 1) = (struct trace_entry){
			.object = call->object,
			.named = call->named,
			.frame = call->frame,
			.start_ticks = calls->last_ticks,
			.node = node != TRACE_NO_NODE ? node : calls->top->node,
			/* The plain kind, as hooks report it. */
			.kind = trace_call_kind_is_python(call->kind) ? TRACE_KIND_PYTHON
								      : call->kind,
		};
		calls->top++;
	}
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* Entries are a parent's: these calls began there and are counted there. */
void trace_stand_again(struct call_stack *calls, const struct trace_entry *entries, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		const struct trace_entry *entry = &entries[i];
		const struct trace_call call = {
			.identity = identity_of(entry),
			.object = entry->object,
			.named = entry->named,
			.frame = entry->frame,
			.kind = (enum trace_kind)entry->kind,
		};

		if (call.identity != 0)
			trace_stand(calls, &call);
	}
}
