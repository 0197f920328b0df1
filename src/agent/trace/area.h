/*
 * area - the part of the ring's memory in which this process counts calls and the recorder reads
 * them (struct trace_area); also the layout of the CPython that is traced.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/trace.h"

struct python_layout;
struct ring_header;

/* Uses this ring's trace area from now on, and reads the flags below from its terms. */
struct trace_area *trace_area_begin(struct ring_header *ring);
/* In a child of fork: it has no area yet. */
void trace_area_forget(void);
/* Which kinds of calls the user asked for; children of fork keep it. */
struct trace_wishes {
	bool has_builtins; /* count calls of C functions */
	bool has_blocks;   /* count calls of Ruby's blocks */
};
extern struct trace_wishes trace_wishes;
/* This process's area, or NULL. */
struct trace_area *trace_area_of_process(void);
/* The ring used last; trace_area_forget() keeps it. */
struct ring_header *trace_area_ring(void);

/* Stores this process's status, or means of tracing, in its area. */
void trace_set_status(enum trace_status status);
void trace_set_means(enum trace_means means);
/* Notes that another profiler is about to replace our hooks. */
void trace_note_other_tool(void);

/* Copies CPython's layout; NULL: CPython has been unloaded. */
void trace_set_layout(const struct python_layout *layout);
/* The layout, or NULL where no CPython is traced.  Its memory is static. */
const struct python_layout *trace_layout(void);
/* The calling thread's PyThreadState, with the GIL or without; 0: none, or not known. */
u64 trace_own_state(void);
