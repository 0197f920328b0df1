/*
 * area - the memory in which the recorder reads what this process counts, and the interpreter that
 * is traced in it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/trace.h"

struct python_layout;
struct ring_header;

/* This ring has an area, which is in use from now on. */
struct trace_area *trace_area_begin(struct ring_header *ring);
/* In a child of fork, which has none so far. */
void trace_area_forget(void);
/* What was asked for, of this process and its children. */
struct trace_wishes {
	bool has_builtins; /* calls of C functions are wanted */
	bool has_blocks;   /* Ruby's */
};
extern struct trace_wishes trace_wishes;
/* Whether so many words would fit into the ring that was in use last. */
bool trace_area_has_room(u32 words);
/* The area in use, or NULL. */
struct trace_area *trace_area_of_process(void);
/* The ring that was in use last. */
struct ring_header *trace_area_ring(void);

/* What the area says of this process from now on. */
void trace_set_status(enum trace_status status);
void trace_set_means(enum trace_means means);
/* Another profiler is about to take the place of ours. */
void trace_note_other_tool(void);

/* CPython's layout, which is copied; NULL: it has been unloaded. */
void trace_set_layout(const struct python_layout *layout);
/* The same; NULL: nothing is traced, or there is none.  Lives as long as the process. */
const struct python_layout *trace_layout(void);
