#include "agent/trace/ruby/ruby.h"

#include <stddef.h>

#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/native.h"
#include "agent/trace/word.h"
#include "walk/ruby_env.h"

/* include/ruby/internal/event.h, of every version. */
enum ruby_event_bits {
	EVENT_CALL = 0x8,
	EVENT_RETURN = 0x10,
	EVENT_C_CALL = 0x20,
	EVENT_C_RETURN = 0x40,
	EVENT_B_CALL = 0x100,
	EVENT_B_RETURN = 0x200,
	EVENT_THREAD_BEGIN = 0x400,
	EVENT_FIBER_SWITCH = 0x1000,
};
#define EVENTS_OF_BEGINNING (EVENT_CALL | EVENT_C_CALL | EVENT_B_CALL)

/* include/ruby/debug.h, rb_event_hook_flag_t: SAFE | RAW_ARG. */
#define HOOK_FLAGS 5

/*
 * From this version on Ruby instruments the beginnings and ends of blocks together with those of
 * methods, since blocks may be methods (iseq.c, add_bmethod_events()): blocks become slower,
 * whichever events a hook asks for.
 */
#define BLOCKS_LIKE_METHODS 0x030100U

/* vm_core.h, enum vm_frame_env_flags: the frame of a block that is a method. */
#define FRAME_IS_BMETHOD 0x40ULL

/* vm_core.h, struct rb_trace_arg_struct: the leading members, the same in every version. */
struct ruby_event {
	u32 event;
	u64 context;
	u64 frame;
	u64 self;
	u64 id; /* 0: not looked up */
	u64 called_id;
	u64 class;
};

typedef void ruby_hook(u64 data, const struct ruby_event *event);

struct trace_ruby trace_ruby;

static struct {
	struct ruby_layout layout;
	bool has_layout;
} ruby;

const struct ruby_layout *trace_ruby_layout(void)
{
	return ruby.has_layout ? &ruby.layout : NULL;
}

/* Ends the innermost call with an entry; calls inside it that had no entry have ended, too. */
static inline void pop(struct call_stack *calls, u64 now)
{
	calls->unstacked = 0;
	trace_pop(calls, now);
}

/* The outermost entry whose frame is this one or further in; NULL: none. */
static struct trace_entry *first_ended(const struct call_stack *calls, u64 frame)
{
	struct trace_entry *found = NULL;

	for (struct trace_entry *entry = calls->top; entry > calls->entries; entry--) {
		if (!trace_is_ruby(entry->kind))
			continue;
		if (entry->frame > frame)
			break;
		found = entry;
	}
	return found;
}

__attribute__((noinline)) void trace_ruby_end_from(struct call_stack *calls, u64 frame, u64 now)
{
	const struct trace_entry *first = first_ended(calls, frame);

	trace_advance(calls, now);
	while (first != NULL && calls->top >= first)
		pop(calls, now);
}

static inline void begin(struct call_stack *calls, struct trace_call call, u64 now)
{
	/* The root's frame is 0, for which the comparison is false. */
	if (__builtin_expect(calls->top->frame - 1 < call.frame, 0))
		trace_ruby_end_from(calls, call.frame, now);
	trace_enter(calls, call, now);
}

static inline void end(struct call_stack *calls, u64 frame, u64 now)
{
	if (__builtin_expect(calls->top->frame == frame, 1)) {
		trace_advance(calls, now);
		pop(calls, now);
	} else {
		trace_ruby_end_from(calls, frame, now);
	}
}

/*
 * The end of a method in C or, up to 3.0, of a block that is a method.  The event comes when its
 * frame is gone, with the caller's frame; but if an exception leaves the call, the event comes
 * before.
 */
static void end_of_named(struct call_stack *calls, u64 frame, u64 now)
{
	const u64 gone = frame - trace_ruby.frame_size;
	const struct trace_entry *first;

	if (__builtin_expect(calls->top->frame == gone, 1)) {
		end(calls, gone, now);
		return;
	}
	first = first_ended(calls, frame);
	if (first == NULL)
		trace_advance(calls, now);
	else if (first->frame == frame && first_ended(calls, gone) == NULL)
		end(calls, frame, now);
	else
		end(calls, gone, now);
}

static inline void begin_iseq(struct call_stack *calls, u64 frame, u64 method, u64 now)
{
	const u64 iseq = trace_word(frame, trace_ruby.frame_iseq);
	const struct trace_call call = {
		.identity = trace_ruby_identity(iseq, method),
		.object = iseq,
		.frame = frame,
		.kind = TRACE_KIND_RUBY,
	};

	begin(calls, call, now);
}

static inline void begin_named(struct call_stack *calls, const struct ruby_event *event,
			       u64 now)
{
	const struct trace_call call = {
		.identity = trace_ruby_builtin_identity(event->class, event->id),
		.object = event->class,
		.named = event->id,
		.frame = event->frame - trace_ruby.frame_size,
		.kind = TRACE_KIND_RUBY_BUILTIN,
	};

	begin(calls, call, now);
}

/* A block begins.  One that is a method was reported as that already. */
static void begin_block(struct call_stack *calls, u64 frame, u64 now)
{
	const u64 ep = trace_word(frame, trace_ruby.frame_ep);

	if (!(trace_word(ep, 0) & FRAME_IS_BMETHOD))
		begin_iseq(calls, frame, 0, now);
}

static void end_of_any(struct call_stack *calls, const struct ruby_event *event, u64 now)
{
	const u64 ep = trace_word(event->frame, trace_ruby.frame_ep);

	if (event->event == EVENT_B_RETURN && trace_word(ep, 0) & FRAME_IS_BMETHOD)
		return;
	if (event->event != EVENT_B_RETURN && event->id != 0)
		end_of_named(calls, event->frame, now);
	else
		end(calls, event->frame, now);
}

/* Whether this is an unwanted block's event, whose cost is in the innermost call. */
static inline bool is_only_reported(const struct ruby_event *event)
{
	return event->event == EVENT_B_CALL && trace_ruby.reports_blocks &&
	       event->context == trace_ruby_context;
}

/* Events that are needed while throttled: ends of calls, and a thread's beginning. */
static inline bool is_of_stack(u32 event)
{
	return (event & EVENTS_OF_BEGINNING) == 0;
}

/* rb_event_hook_raw_arg_func_t */
static void on_event(u64 data, const struct ruby_event *event)
{
	struct call_stack *calls = trace_of_thread();

	(void)data;
	if (calls == NULL)
		return;
	if (trace_throttled(calls) && !is_of_stack(event->event))
		return;
	if (is_only_reported(event)) {
		trace_note_uncounted(calls, TRACE_UNCOUNTED_BUILTIN);
		return;
	}
	const u64 now = trace_now();

	if (__builtin_expect(event->context != trace_ruby_context, 0))
		trace_ruby_switch(calls, event->context, now);
	switch (event->event) {
	case EVENT_CALL: {
		const u64 ep = trace_word(event->frame, trace_ruby.frame_ep);

		begin_iseq(calls, event->frame, trace_ruby_method(ep), now);
		break;
	}
	case EVENT_RETURN:
	case EVENT_B_RETURN:
	case EVENT_C_RETURN:
		end_of_any(calls, event, now);
		break;
	case EVENT_C_CALL:
		begin_named(calls, event, now);
		break;
	case EVENT_B_CALL:
		if (trace_ruby.has_blocks)
			begin_block(calls, event->frame, now);
		break;
	case EVENT_THREAD_BEGIN:
		trace_ruby_restart(calls, event->context, now);
		break;
	default:
		break;
	}
}

/* Reads the method of a frame in C. */
static bool read_builtin(u64 frame, u64 ep, struct trace_call *out_call)
{
	const u64 method = trace_ruby_method(ep);

	if (method == 0 || !trace_ruby.has_builtins)
		return false;
	const u64 class = trace_word(method, trace_ruby.method_owner);
	const u64 id = trace_word(trace_word(method, trace_ruby.method_definition),
				  trace_ruby.definition_id);

	*out_call = (struct trace_call){ .identity = trace_ruby_builtin_identity(class, id),
					 .object = class,
					 .named = id,
					 .frame = frame,
					 .kind = TRACE_KIND_RUBY_BUILTIN };
	return true;
}

bool trace_ruby_read_frame(u64 frame, struct trace_call *out_call)
{
	const u64 ep = trace_word(frame, trace_ruby.frame_ep);
	const u64 iseq = trace_word(frame, trace_ruby.frame_iseq);
	const u64 flags = trace_word(ep, 0);
	const u64 magic = flags & RUBY_MAGIC_MASK;
	const bool is_method = magic == RUBY_MAGIC_METHOD ||
			       (magic == RUBY_MAGIC_BLOCK && flags & FRAME_IS_BMETHOD);

	if (magic == RUBY_MAGIC_C)
		return read_builtin(frame, ep, out_call);
	if (!ruby_is_object(iseq) ||
	    !(is_method || (magic == RUBY_MAGIC_BLOCK && trace_ruby.has_blocks)))
		return false;
	*out_call = (struct trace_call){
		.identity = trace_ruby_identity(iseq, is_method ? trace_ruby_method(ep) : 0),
		.object = iseq,
		.frame = frame,
		.kind = TRACE_KIND_RUBY,
	};
	return true;
}

void trace_ruby_begin(const struct ruby_layout *layout)
{
	const struct ruby_offsets *offsets = &layout->offsets;

	ruby.layout = *layout;
	trace_ruby = (struct trace_ruby){
		.frame_size = offsets->frame_size,
		.frame_iseq = offsets->frame_iseq,
		.frame_ep = offsets->frame_ep,
		.iseq_body = offsets->iseq_body,
		.body_encoded = offsets->body_encoded,
		.body_label = offsets->body_label,
		.method_definition = offsets->method_definition,
		.method_owner = offsets->method_owner,
		.definition_id = offsets->definition_id,
		.ec_stack = offsets->ec_stack,
		.ec_stack_size = offsets->ec_stack_size,
		.ec_frame = offsets->ec_frame,
		.has_builtins = trace_wishes.has_builtins,
		.has_blocks = trace_wishes.has_blocks,
		.reports_blocks =
			!trace_wishes.has_blocks && layout->version >= BLOCKS_LIKE_METHODS,
	};
	ruby.has_layout = true;
	/* Without C functions callcc() would not be noticed (ruby/names.c). */
	if (!trace_ruby.has_builtins)
		trace_native_see_no_ends();
}

void trace_ruby_install(void)
{
	void (*const add)(ruby_hook *, u32, u64, int) =
		(void (*)(ruby_hook *, u32, u64, int))ruby.layout.functions.add_event_hook2;
	u32 events = EVENT_CALL | EVENT_RETURN | EVENT_THREAD_BEGIN | EVENT_FIBER_SWITCH;

	if (trace_ruby.has_builtins)
		events |= EVENT_C_CALL | EVENT_C_RETURN;
	if (trace_ruby.has_blocks)
		events |= EVENT_B_CALL | EVENT_B_RETURN;
	if (trace_ruby.reports_blocks)
		events |= EVENT_B_CALL;
	if (add == NULL) {
		trace_set_status(TRACE_NO_ENTRY);
		return;
	}
	add(on_event, events, ruby.layout.nil, HOOK_FLAGS);
	trace_set_status(TRACE_ON);
}
