/*
 * altstack - the alternate signal stack that our handler runs on, in each thread.
 *
 * A thread may run on a stack with no room for a signal's frame: coroutines have two pages,
 * Erlang's processes none at all (docs/decisions/0038-a-stack-for-each-thread.md).  So our handler
 * has SA_ONSTACK, and each sampled thread has an alternate stack in the kernel, which is ours:
 *
 *   the program has set          the kernel has
 *   none                         one of stack_pool.h
 *   one of its own               a replacement of ours, larger by what traps need
 *
 * sigaltstack() reports what the program set.  Its handlers with SA_ONSTACK run on the replacement;
 * where it has set none, stack_flags.h says where they run.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "abi/types.h"

/*
 * What our handler writes below the kernel's frame of the signal, at most: measured 1.1 KiB
 * (tests/live/times/test_stacks.py).
 */
#define AGENT_STACK_NEED 2048

/* In the constructor. */
void altstack_begin(void);
/* Whether threads are to have one: this process is sampled. */
bool altstack_is_wanted(void);
/* In a thread that begins, or that begins to be sampled.  Costs a system call. */
void altstack_begin_thread(void);
/* In a child of fork: other threads' stacks of the parent can be used again. */
void altstack_forget_others(void);
/* Gives the kernel what the program set.  No trap may come any more, nor threads exist. */
void altstack_give_back(void);
/* Whether a stack that the program sets may be replaced by one of ours. */
bool altstack_is_for_us(const stack_t *stack);
/* sigaltstack(2) on the program's view: 0, or -errno.  is_for_us: by altstack_is_for_us(). */
long altstack_set(const stack_t *stack, bool is_for_us, stack_t *old);
/* The size of the kernel's frame of one signal, with all registers that the machine has. */
size_t altstack_frame_bytes(void);

/* Whether this stack, as the kernel has it in the calling thread, is one of ours. */
bool altstack_is_ours(const stack_t *in_kernel);

/* Whether an address is on the alternate stack that the kernel had for the thread. */
static inline bool altstack_of_context_holds(const ucontext_t *context, u64 address)
{
	return address - (u64)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}
/* How many bytes of that stack are below an address on it. */
static inline u64 altstack_room(const ucontext_t *context, u64 address)
{
	return address - (u64)context->uc_stack.ss_sp;
}
