/*
 * place - where a call stands in its thread's tree: the node of its callee, which is looked
 * for, and made and named if it is not there.
 */
#include "agent/core/arch.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/names.h"
#include "agent/trace/processor_speed.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/regions.h"

/* In the identity of a node that has no name so far: it is not found by the short way. */
#define NAMELESS (1ULL << 63)

/* Inlined, as it ends every search. */
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

/* As its hook made it. */
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
	case TRACE_KIND_RUBY:
	case TRACE_KIND_RUBY_BUILTIN:
	case TRACE_KIND_RUBY_OPERATOR:
		/* Read of their frames, where the next event comes. */
	case TRACE_KIND_INSTRUMENTED:
	case TRACE_KIND_MCOUNT:
	case TRACE_KIND_FENTRY:
		return entry->object;
	case TRACE_KIND_OUTSIDE:
	case TRACE_KIND_COUNT:
		break;
	}
	return 0;
}

/* It was found, or made, when there was no room to send its name. */
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

/* Kinds of which an entry has all that a name is read of, as long as the call is executed. */
static bool can_be_named(enum trace_kind kind)
{
	return kind == TRACE_KIND_PYTHON || kind == TRACE_KIND_REGION;
}

/*
 * A name that does not fit is sent when its function is called again.  Of one that is called once
 * and executed for long, such as a program's outermost, it is sent as soon as there is room.
 */
static void name_executed(struct call_stack *calls)
{
	struct trace_entry *entry = calls->top;

	calls->has_nameless = 0;
	for (; entry > calls->entries && calls->has_nameless == 0; entry--) {
		const struct trace_call call = { identity_of(entry), entry->object,
						 entry->named, entry->frame,
						 (enum trace_kind)entry->kind };

		/* Another's node, where there was no room for its own. */
		if (can_be_named(call.kind) &&
		    trace_node_at(calls, entry->node)->identity == (call.identity ^ NAMELESS))
			name_again(calls, &call, entry->node);
	}
}

static u32 add_call(struct call_stack *calls, u32 parent, const struct trace_call *call)
{
	/* Of a table of its own (calibrate.h) the recorder reads no names. */
	const u64 key =
		calls->area == trace_area_of_process() ? trace_name_of(call) : TRACE_UNNAMED;
	calls->has_nameless |= key == 0;
	return trace_add_child(calls, parent, trace_kind_of(call, calls->top),
			       key != 0 ? call->identity : call->identity ^ NAMELESS, key);
}

/* The node of a callee, which is made if it is not there. */
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

	/* Its overhead may not be in the caches: that is the search's. */
	if (node != TRACE_NO_NODE)
		calls->area->overheads[node].misses += calls->is_off ^ 1;
	if (__builtin_expect(calls->last_ticks >= calls->speed_due, 0))
		trace_speed_look(calls);
	/* What a search takes is little, and would be a walk through all calls each time. */
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

	/* By what a function was executed cannot be asked of a frame that has begun. */
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
			/* As hooks say it. */
			.kind = trace_call_kind_is_python(call->kind) ? TRACE_KIND_PYTHON
								      : call->kind,
		};
		calls->top++;
	}
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* Its callers, outermost first, as in the parent; their calls began there and are counted there. */
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
