/*
 * trace_names - keys of traced callees, and the recorder told what they stand for.
 */
#pragma once
#include "abi/types.h"

struct ring_header;
struct trace_call;

/* The key of a callee, of which the recorder knows then; 0: there was no room to tell it. */
u64 trace_name(struct ring_header *ring, const struct trace_call *call);
