/*
 * names - keys of traced callees, and the reports of what they stand for.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct ring_header;
struct trace_call;
struct trace_entry;

/* The key of a callee, of which the recorder knows then; 0: there was no room to report it. */
u64 trace_name(struct ring_header *ring, const struct trace_call *call);
/* The same, into the ring in use. */
u64 trace_name_of(const struct trace_call *call);
/* Whether the largest name would fit into the ring in use, and some more. */
bool trace_names_have_room(void);
/*
 * Its kind, by what it costs to trace: hooks do not look whether a builtin is a method, nor by what
 * a function is called.  In the call of `caller`.
 */
enum trace_kind trace_kind_of(const struct trace_call *call, const struct trace_entry *caller);
/* In a child of fork: no other thread is naming. */
void trace_names_forget_others(void);
