/*
 * trace_twice - functions that a compiler was told to put two hooks into.
 *
 * A program that is built with two of the flags (trace_native.h) tells of each call twice, and it
 * is to be counted once.
 *
 *   -finstrument-functions beside another: mcount() or __fentry__() comes first, and has made an
 *   entry, when __cyg_profile_func_enter() says which function it is.  That is the same call if
 *   the function's first hook is the one that has made the entry, or if the entry's function is a
 *   copy of it, in which this hook is the first one behind the other; else it is of a function
 *   that was inlined, which has no other hook.  (Where the function around that was excluded from
 *   -finstrument-functions, and only from that, what is inlined first is taken for its own.)
 *
 *   -fpatchable-function-entry beside mcount() or __fentry__(): a sled is left as it is where the
 *   function behind it calls a hook by itself.
 *
 * Hooks' calls are known by where they lead to, so nothing is decoded: that four bytes lead there by
 * chance does not happen.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "vantage/agent/trace/native/trace_native_own.h"

struct trace_sleds_table;

#if defined(__x86_64__)
/*
 * Whether the return address that an instrumented function tells of is that of its own caller: one
 * that was inlined tells of that of the function it was inlined in.
 */
bool trace_twice_has_caller(const struct tracer *tracer,
			    const struct trace_native_event *begin);
/*
 * Whether a function that says that it begins has said so by another hook, for this very call, which
 * is counted and has its end.  Asked once of each beginning, by who has taken the tree.
 */
bool trace_twice_is_told(struct tracer *tracer, const struct trace_native_event *begin);
/* Whether the end of this call of a function is seen by its return address. */
bool trace_twice_is_awaited(const struct trace_entry *entry, u64 function);
/* A call has begun for which there was no entry; its function may tell of it once more. */
void trace_twice_remember(const struct trace_native_event *begin);
#else
/* Not known: where calls may have been left by an exception, it is taken for it. */
static inline bool trace_twice_has_caller(const struct tracer *tracer,
					  const struct trace_native_event *begin)
{
	(void)begin;
	return tracer->unwound > 0;
}

static inline bool trace_twice_is_told(struct tracer *tracer,
				       const struct trace_native_event *begin)
{
	(void)tracer;
	(void)begin;
	return false;
}

static inline bool trace_twice_is_awaited(const struct trace_entry *entry, u64 function)
{
	(void)entry;
	(void)function;
	return false;
}

static inline void trace_twice_remember(const struct trace_native_event *begin)
{
	(void)begin;
}
#endif

/* The words that an image calls hooks through which count. */
#define TRACE_TWICE_WORDS 8U

struct trace_twice_words {
	u64 at[TRACE_TWICE_WORDS];
	u32 count;
	u64 low, high; /* the image's code, where jumps through these words may be */
};

/* By the file's relocations; *out_words has everything but low and high. */
void trace_twice_find_words(const struct trace_sleds_table *table, u64 load_bias,
			    struct trace_twice_words *out_words);
/* Whether the code between these two calls a hook. */
bool trace_twice_calls_hook(const struct trace_twice_words *words, u64 begin, u64 end);
