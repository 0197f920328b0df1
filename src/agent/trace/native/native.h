/*
 * native - calls of compiled code, counted by hooks that a compiler has put into it.
 *
 *   -finstrument-functions     __cyg_profile_func_enter() and …_exit(), at both ends
 *   -pg                        mcount(), behind the prologue
 *   -pg -mfentry               __fentry__(), before it
 *
 * The first reports ends itself.  With the others there is a beginning only, and the end is
 * seen by a return address in the place of the function's own (native/returns.h).
 *
 * A function that is built with two of these flags calls two hooks, and is counted twice.
 *
 * A call is known by its level: an address on its stack that is lower, the further in it is.
 * For a function whose return address is ours that is where this address lies; for one that
 * reports its ends, the stack pointer where it called the hook.  So what was left without an
 * end (longjmp(), an exception, a tail call) is found at the next event further out; stacks
 * that a thread has besides its own (of signals, of coroutines) are not compared with it.
 *
 * __fentry__() finds the return address above its own, mcount() above the saved rbp.  A function of
 * gcc's that aligns its stack and counts on where it was (alloca() or arguments on the stack, beside
 * variables of 32 bytes) has a copy of it there with -pg, and returns by the original: it is counted,
 * and seems to last until the next event further out.
 *
 * These hooks run wherever the compiler has put them: in signal handlers, in the middle of
 * one another, in children of vfork(), before main().  They save all registers.  A handler that
 * comes while one of them is at the tree is counted in a tree of its own.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"
#include "agent/trace/call_stack.h"

/* In the constructor: what our hooks interpose. */
void trace_native_find_next(void);
/* Calls are counted from now on, or no more. */
void trace_native_begin(void);
void trace_native_end(void);
/* The calling thread jumps out to where the stack pointer was this (longjmp()). */
void trace_native_jump(u64 level);
/* In a child of fork, whose trees are its own. */
void trace_native_forget(void);
/*
 * A stack is about to be copied away, and others run where it is: return addresses that were
 * exchanged go back to their places in it; and are exchanged again when it has come back.
 */
void trace_native_leave_stack(struct trace_stack *stack);
void trace_native_return_to_stack(struct trace_stack *stack);
/* Stacks will be copied without an event: from now on ends of calls are not seen. */
void trace_native_see_no_ends(void);
/* What the recorder is to look up for a callee: an address in its first instructions. */
u64 trace_native_place(u64 function, u32 kind);

/*
 * For the entries in native/entries_x86_64.S.  A function has been called, whose return address
 * lies at slot; `behind` is the instruction behind the hook's call in it; which: 0 mcount(), 1
 * __fentry__().
 */
void trace_native_on_entry(u64 slot, u64 behind, u32 which);
/* A function has returned to us: where to. */
u64 trace_native_on_return(u64 slot);
/* The same, from there with all registers saved: where it takes longer. */
void trace_native_on_entry_slowly(u64 slot, u64 behind, u32 which);
u64 trace_native_on_return_slowly(u64 slot);

/* What is read at each event: one line. */
struct trace_native {
	u32 is_on;     /* the hooks count */
	u32 sees_ends; /* return addresses may be exchanged */
	/* The next definitions behind ours, the C library's or the program's; NULL: none. */
	void (*next_mcount)(void);
	void (*next__mcount)(void);
	void (*next_fentry)(void);
	void (*next_enter)(void *, void *); /* NULL: the C library's, which does nothing */
	void (*next_exit)(void *, void *);
	/* Of each name: not where a library has a function of its own that is called so. */
	u32 on_mcount, on__mcount, on_fentry;
} __attribute__((aligned(64)));
extern struct trace_native trace_native;
