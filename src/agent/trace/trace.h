/*
 * trace - begins and ends tracing in a process, for all kinds of hooks.
 *
 * python/begin.h and ruby/ruby.h choose an interpreter's hooks and set them without changing the
 * program's behaviour; native/native.h is for compiled code.  calls.h counts each thread's calls.
 */
#pragma once
#include <stdbool.h>

struct link_map;
struct ring_header;

/* Begins tracing, if the ring has a trace area; else does nothing. */
void trace_begin(struct ring_header *ring);
/*
 * An interpreter loaded later may be starting in this image (dlopened.h): traces it if the recorder
 * has found it by now.
 */
void trace_begin_dlopened(const struct link_map *image);
/* In a child of fork: drops the parent's calls and area. */
void trace_forget(void);
/*
 * The same in a child that sends no events (core/raw_forks.c): it shares the parent's trees, but
 * has its own copy of the variables that say where the next node goes.
 */
void trace_abandon(void);
/* In a child of fork that is traced itself: enters its open calls into its own tree. */
void trace_adopt(void);
/* The program is about to forbid reading the counter: calls are counted, but take no time. */
void trace_forbid_counter(void);
/* The program pauses tracing, or goes on (control.h): paused, calls are followed, not counted. */
void trace_pause(bool is_paused);
