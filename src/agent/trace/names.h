/*
 * names - gives each traced callee a key, and sends the recorder the name behind it.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"

struct trace_call;
struct trace_entry;

/* The key of a callee, after its name was sent in the ring used last; 0: no room there. */
u64 trace_name_of(const struct trace_call *call);
/* Whether the ring has room for the largest name, and some more. */
bool trace_names_have_room(void);
/*
 * The exact kind of a call, by its cost: hooks do not distinguish methods from other builtins, nor
 * how a function was called.  `caller` is the calling function's entry.
 */
enum trace_kind trace_kind_of(const struct trace_call *call, const struct trace_entry *caller);
/* In a child of fork: no other thread uses a scratch. */
void trace_names_forget_others(void);
