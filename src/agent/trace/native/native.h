/*
 * native - counts calls of compiled code by the hooks that compilers insert.
 *
 *   -finstrument-functions     __cyg_profile_func_enter() and …_exit(), at both ends
 *   -pg                        mcount(), after the prologue
 *   -pg -mfentry               __fentry__(), before the prologue
 *
 * The first reports ends itself.  The others report beginnings only; ends are seen by replacing
 * the function's return address with ours (native/returns.h).
 *
 * A function that is compiled with two of these flags calls two hooks, and is counted twice.
 *
 * A call is identified by its level, an address on its stack: lower for inner calls.  For a
 * function whose return address we replace it is that address's place; for one that reports its
 * ends, the stack pointer where it called the hook.  So calls that were left without an end event
 * (longjmp(), an exception, a tail call) are found to be over at the next event further out.
 * Levels on a thread's other stacks (for signals, of coroutines) are not compared with those on
 * its own.
 *
 * __fentry__() finds the return address just above its own, mcount() above the saved rbp.  With
 * -pg, a gcc function that realigns its stack and needs the original frame (alloca() or arguments
 * on the stack, and variables of 32 bytes) has only a copy of it there, and returns by the
 * original: the call is counted, and seems to last until the next event further out.
 *
 * These hooks run wherever the compiler has inserted them: in signal handlers, inside one
 * another, in children of vfork(), before main().  They save all registers.  If a handler
 * interrupts a hook that has taken the tree, the handler's calls are counted in another tree.
 */
#pragma once
#include <stdbool.h>

#include "abi/trace.h"
#include "agent/trace/call_stack.h"

/* In the constructor: finds the definitions that our hooks interpose. */
void trace_native_find_next(void);
/* Begin and end counting calls. */
void trace_native_begin(void);
void trace_native_end(void);
/* The calling thread is about to jump (longjmp()) to where the stack pointer is `level`. */
void trace_native_jump(u64 level);
/* In a child of fork: drops what belongs to the parent's trees and threads. */
void trace_native_forget(void);
/*
 * A coroutine's stack is about to be copied away, so that others run in its place: restores the
 * replaced return addresses in it; the second replaces them again when the stack has come back.
 */
void trace_native_leave_stack(struct trace_stack *stack);
void trace_native_return_to_stack(struct trace_stack *stack);
/* Stacks will be copied without notice: return addresses are not replaced any more. */
void trace_native_see_no_ends(void);
/* The address by which the recorder looks up a callee: in its first instructions. */
u64 trace_native_place(u64 function, u32 kind);

/*
 * Called by native/entries_x86_64.S.  A function was called whose return address lies at slot;
 * `behind` is the address after the hook's call in it; which: 0 mcount(), 1 __fentry__().
 */
void trace_native_on_entry(u64 slot, u64 behind, u32 which);
/* A function has returned to us; returns where it should go on. */
u64 trace_native_on_return(u64 slot);
/* The slow paths of both, called with all registers saved. */
void trace_native_on_entry_slowly(u64 slot, u64 behind, u32 which);
u64 trace_native_on_return_slowly(u64 slot);

/* State that each event reads, in one cache line. */
struct trace_native {
	u32 is_on;     /* the hooks count */
	u32 sees_ends; /* return addresses may be exchanged */
	/* The definitions that ours interpose, the C library's or the program's; NULL: none. */
	void (*next_mcount)(void);
	void (*next__mcount)(void);
	void (*next_fentry)(void);
	void (*next_enter)(void *, void *); /* NULL: the C library's, which does nothing */
	void (*next_exit)(void *, void *);
	/* 0 where the program or a library defines the hook itself: then it is not traced. */
	u32 on_mcount, on__mcount, on_fentry;
} __attribute__((aligned(64)));
extern struct trace_native trace_native;
