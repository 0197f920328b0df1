/*
 * altstack - the alternate signal stack that our handler runs on, in each thread.
 *
 * What runs in a thread may be on a stack with no room for a signal: coroutines have two
 * pages, Erlang's processes none at all (docs/decisions/0038-a-stack-for-each-thread.md).  So
 * our handler has SA_ONSTACK, and each sampled thread has an alternate stack in the kernel,
 * which is ours:
 *
 *   the program has set          the kernel has
 *   none                         one of stack_pool.h
 *   one of its own               one of ours for it, as large as theirs and what traps need
 *
 * sigaltstack() reports what the program set.  Its handlers with SA_ONSTACK run on ours where
 * they would run on theirs, and where it has set none as stack_flags.h says.
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
/* In a child of fork: what other threads had can be used again. */
void altstack_forget_others(void);
/*
 * No trap comes any more, and no other thread is there: the kernel gets what the program set.
 */
void altstack_give_back(void);
/* Whether what the program sets may be replaced by one of ours. */
bool altstack_is_for_us(const stack_t *stack);
/* sigaltstack(2) as the program has it: 0, or -errno.  is_for_us: the former. */
long altstack_set(const stack_t *stack, bool is_for_us, stack_t *old);
/* What the kernel writes to a stack for one signal, with all registers there are. */
size_t altstack_frame_bytes(void);

/* Whether this stack, as the kernel has it in the calling thread, is one of ours. */
bool altstack_is_ours(const stack_t *in_kernel);

/*
 * Whether an address is on the alternate stack that the interrupted thread had in the kernel.
 */
static inline bool altstack_of_context_holds(const ucontext_t *context, u64 address)
{
	return address - (u64)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}
/* And how many bytes of it lie below that address. */
static inline u64 altstack_room(const ucontext_t *context, u64 address)
{
	return address - (u64)context->uc_stack.ss_sp;
}
