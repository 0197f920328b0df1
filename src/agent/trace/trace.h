/*
 * trace - when tracing begins and ends in a process, for all that reports calls.
 *
 * Which hooks an interpreter has, and how they come into a program without changing it, is
 * python/begin.h's and ruby/ruby.h's; native/native.h is about compiled code.  What each thread
 * counts is calls.h's.
 */
#pragma once
#include <stdbool.h>

struct link_map;
struct ring_header;

/* Where the recorder has made room for a trace; else nothing happens. */
void trace_begin(struct ring_header *ring);
/*
 * An interpreter that came later may begin in this image (dlopened.h): what the recorder has found
 * since.
 */
void trace_begin_dlopened(const struct link_map *image);
/* In a child of fork: what the parent counted is the parent's. */
void trace_forget(void);
/*
 * The same in a child that has no events of its own (core/raw_forks.c): it has the parent's tree before it, and its
 * own copy of what says where in it the next node is made.
 */
void trace_abandon(void);
/* In a child of fork that is traced itself: what it is executing stands in its own tree. */
void trace_adopt(void);
/*
 * The program puts up a filter that forbids mmap() or gettid(), which a thread's first event
 * takes: those that have begun go on.
 */
void trace_forbid_threads(void);
/* It is about to forbid that the counter be read: calls are counted, and take no time. */
void trace_forbid_counter(void);
/*
 * By the program (control.h): calls are followed as before, but not counted, and take no time.
 */
void trace_switch_off(void);
void trace_switch_on(void);
