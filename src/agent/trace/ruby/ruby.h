/*
 * ruby - traces CRuby 2.7 and later by an event hook that is called at every call and return.
 *
 * This is what TracePoint is built on (rb_add_event_hook2(), debug.h), but asks for raw events
 * (RAW_ARG): Ruby computes nothing that only a script would want, and creates no object.  The
 * program's own hooks are called beside ours.
 *
 * A call is identified by the place of its control frame (walk/ruby.h).  Frames form an array, so
 * when a frame appears in the place of another or further out, that other call has ended, by a
 * return, an exception, a throw or a break.  So calls that end without an event (a tail call, a
 * stack overflow) are ended by the next event.
 *
 * Each execution context, a fiber's or a thread's, has a call stack of its own: ruby/contexts.c.
 */
#pragma once
#include <stdbool.h>

#include "agent/core/memory.h"
#include "agent/trace/calls.h"
#include "agent/trace/word.h"
#include "walk/ruby_memory.h"

struct mem;
struct ruby_layout;
struct walk;

/* The part of the layout that each event needs, in one place for the cache's sake. */
struct trace_ruby {
	u64 frame_size;
	u16 frame_iseq, frame_ep;
	u16 iseq_body, body_encoded, body_label;
	u16 method_definition, method_owner, definition_id;
	u16 ec_stack, ec_stack_size, ec_frame;
	bool has_builtins, has_blocks; /* calls of C functions, or of blocks, are wanted */
	bool reports_blocks; /* also unwanted ones, to count their cost (ruby/ruby.c) */
};
extern struct trace_ruby trace_ruby;

/* Begins with an interpreter whose VM may not be set up yet. */
void trace_ruby_begin(const struct ruby_layout *layout);
/* The layout of the traced Ruby; NULL: none.  Its memory is static. */
const struct ruby_layout *trace_ruby_layout(void);

/* Adds our hooks; from 3.0 on, to the calling thread's Ractor. */
void trace_ruby_install(void);

/* ruby/begin.c: */
/* Notes that this Ruby has a JIT, which compiles only code without hooks. */
void trace_ruby_note_jit(void);
/* isatty() was called for standard input, perhaps by a new Ractor. */
void trace_ruby_see_stream(void);
/* getenv() was called for RUBYLIB: the VM has been set up. */
void trace_ruby_see_vm(void);
/* The environment variable `name`, which begins with "RUBY", has this value (NULL: unset). */
void trace_ruby_see_value(const char *name, const char *value);
/* ruby/ruby.c: */
/* Reads the call that a frame is of; false: such calls are not counted. */
bool trace_ruby_read_frame(u64 frame, struct trace_call *out_call);
/* Ends the calls whose frames are this one or further in. */
void trace_ruby_end_from(struct call_stack *calls, u64 frame, u64 now);

/* ruby/contexts.c: */
/* The context whose stack is in the calling thread's struct call_stack now; 0: none. */
extern __thread u64 trace_ruby_context;

/* Switches the thread to another context's call stack. */
void trace_ruby_switch(struct call_stack *calls, u64 context, u64 now);
/* The context has begun anew: drops its stack, and rebuilds it from its frames. */
void trace_ruby_restart(struct call_stack *calls, u64 context, u64 now);

/* ruby/names.c: the key of a callee, as trace_name_of() has it. */
u64 trace_ruby_name(struct walk *walk, struct mem *mem, const struct trace_call *call);
/* Looks up operators by rb_intern(); needed before the next function. */
typedef u64 trace_ruby_intern(const char *name);
void trace_ruby_find_operators(trace_ruby_intern *intern);
/* Whether this C method is an operator for which untraced Ruby has an instruction. */
bool trace_ruby_is_operator(const struct trace_call *call);

static inline bool trace_is_ruby(u32 kind)
{
	return kind == TRACE_KIND_RUBY || kind == TRACE_KIND_RUBY_BUILTIN;
}

/* The method entry of a frame of a method, by its environment; 0: it has none. */
static inline u64 trace_ruby_method(u64 ep)
{
	u64 entry = *(const u64 *)(ep - 2 * sizeof(u64));

	/* If $~ or $_ is used, a svar lies in between (vm_insnhelper.c, lep_svar()). */
	for (u32 i = 0; i < 2 && ruby_is_object(entry); i++) {
		const u64 flags = *(const u64 *)entry & RUBY_IMEMO_MASK;

		if (flags == RUBY_IMEMO_MENT)
			return entry;
		if (flags != RUBY_IMEMO_SVAR)
			return 0;
		entry = trace_word(entry, sizeof(u64));
	}
	return 0;
}

/*
 * The identity of Ruby code as a method: one body may be several methods (define_method()), and a
 * method may have an entry for each class that has it.  Mixes in neighbouring members, since
 * other code may be created at a freed address.
 */
static inline u64 trace_ruby_identity(u64 iseq, u64 method)
{
	const u64 body = trace_word(iseq, trace_ruby.iseq_body);
	const u64 definition =
		method != 0 ? trace_word(method, trace_ruby.method_definition) : 0;

	return iseq ^ trace_rotate(definition, 11) ^ trace_rotate(trace_word(body, 0), 19) ^
	       trace_rotate(trace_word(body, trace_ruby.body_encoded), 31) ^
	       trace_rotate(trace_word(body, trace_ruby.body_label), 47);
}

/* The identity of a C method: its owner, the owner's class, and the name's ID. */
static inline u64 trace_ruby_builtin_identity(u64 class, u64 id)
{
	return class ^ trace_rotate(id, 47) ^ trace_rotate(trace_word(class, RUBY_CLASS), 23);
}
