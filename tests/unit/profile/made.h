/*
 * made - profiles made by hand, from stacks written as text.
 *
 * A stack is "main;run@prog.c:12;libz.so!deflate@deflate.c:90": the outermost frame first,
 * each as [module!]name[@file:line], where the line is the function's.  A frame's own line
 * follows after a '+', "~" in front makes it inlined, "[name]" is one of fathom's rows,
 * "[region name]" a region, "%" in front makes it Python's, "^" Ruby's, "&" the kernel's.
 */
#pragma once
#include "profile/profile.h"

struct made {
	struct profile *profile;
	struct process_id process;
	struct thread_id thread; /* made_add() adds to it */
};

/* With one process, prog (pid 100), and its thread prog (tid 100). */
void made_init(struct made *made);
void made_done(struct made *made);
struct stack_id made_stack(struct made *made, const char *stack);
void made_add(struct made *made, const char *stack, uint64_t ns, uint64_t samples);
/* Traced calls: the profile is a trace's from then on. */
void made_add_calls(struct made *made, const char *stack, uint64_t ns, uint64_t calls);
/* The process and the thread that following weights are added to. */
void made_begin_process(struct made *made, int pid, const char *name);
void made_begin_thread(struct made *made, int tid, const char *name);
/* The id of a function that was added under this name; fails the test if there is none. */
struct function_id made_function(const struct made *made, const char *name);
