/*
 * ruby - CRuby from 2.7 on: an event hook for every call and return.
 *
 * It is what TracePoint is made of (rb_add_event_hook2(), debug.h), asked for the event as it
 * is (RAW_ARG): nothing is made of it that only a script would want, and no object.  Hooks of
 * the program's own are called beside ours.
 *
 * What a call is known by is where its control frame stands (walk/ruby.h): frames are an array, so
 * one that stands where another stood, or further out, is called when that has ended, be it by a
 * return, an exception, a throw or a break.  So what ends without an event (a call in tail
 * position, a stack that overflowed) is closed by the next event.
 *
 * Each execution context, a fiber's or a thread's, has a stack of its own: ruby/contexts.c.
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

/* What each event needs of the layout, beside each other. */
struct trace_ruby {
	u64 frame_size;
	u16 frame_iseq, frame_ep;
	u16 iseq_body, body_encoded, body_label;
	u16 method_definition, method_owner, definition_id;
	u16 ec_stack, ec_stack_size, ec_frame;
	bool has_builtins, has_blocks; /* their calls are wanted */
	bool reports_blocks; /* of those that are not wanted, for they take longer (ruby/ruby.c) */
};
extern struct trace_ruby trace_ruby;

/* An interpreter was found; its VM may not have been set up yet. */
void trace_ruby_begin(const struct ruby_layout *layout);
/* The one that is traced; NULL: there is none.  Lives as long as the process. */
const struct ruby_layout *trace_ruby_layout(void);

/* Adds our hooks, for the calling thread's Ractor where there are such. */
void trace_ruby_install(void);

/* ruby/begin.c: */
/* It compiles what it executes, as far as it is not traced. */
void trace_ruby_note_jit(void);
/* libc is asked whether standard input is a terminal: a new Ractor may ask. */
void trace_ruby_see_stream(void);
/* RUBYLIB is asked for: the VM has been set up. */
void trace_ruby_see_vm(void);
/* A variable that begins with "RUBY" has this value (NULL: none). */
void trace_ruby_see_value(const char *name, const char *value);
/* ruby/ruby.c: */
/* What a traced frame is; false: its calls are not counted. */
bool trace_ruby_read_frame(u64 frame, struct trace_call *out_call);
/* Ends the calls whose frames stand at this one or further in. */
void trace_ruby_end_from(struct call_stack *calls, u64 frame, u64 now);

/* ruby/contexts.c: */
/* The context whose calls are the calling thread's calls's at this moment; 0: none. */
extern __thread u64 trace_ruby_context;

/* Goes on with another context's calls. */
void trace_ruby_switch(struct call_stack *calls, u64 context, u64 now);
/* The context has begun anew: nothing of what was kept of it holds. */
void trace_ruby_restart(struct call_stack *calls, u64 context, u64 now);

/* ruby/names.c: the key of a callee, as trace_name() has it. */
u64 trace_ruby_name(struct walk *walk, struct mem *mem, const struct trace_call *call);
/* rb_intern(): of what Ruby has instructions for, before the question below. */
typedef u64 trace_ruby_intern(const char *name);
void trace_ruby_find_operators(trace_ruby_intern *intern);
/* Whether that method in C is one that Ruby has instructions for, where it is not traced. */
bool trace_ruby_is_operator(const struct trace_call *call);

static inline bool trace_is_ruby(u32 kind)
{
	return kind == TRACE_KIND_RUBY || kind == TRACE_KIND_RUBY_BUILTIN;
}

/* The method entry of a frame of a method, by its environment; 0: it has none. */
static inline u64 trace_ruby_method(u64 ep)
{
	u64 entry = *(const u64 *)(ep - 2 * sizeof(u64));

	/* Where $~ or $_ is used, a svar stands between (vm_insnhelper.c, lep_svar()). */
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
 * Compiled code as a method's: one body may be several methods (define_method()), and a method
 * may have an entry for each class that has it.  Beside it what lies side by side with it,
 * since others are made at addresses that have become free.
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

/* A method in C, by its owner, that one's own class, and the name's ID. */
static inline u64 trace_ruby_builtin_identity(u64 class, u64 id)
{
	return class ^ trace_rotate(id, 47) ^ trace_rotate(trace_word(class, RUBY_CLASS), 23);
}
