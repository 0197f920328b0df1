/*
 * altstack - replaces the program's alternate signal stacks by larger ones: see altstack.h.
 *
 * Each stack of the program's has one of ours for as long as the thread lives: coroutine libraries
 * go on using a signal stack after it has been replaced by the next (GNU Pth), so none of ours is
 * used for another of theirs, nor unmapped earlier.  A program may free a registered stack (Ruby
 * does, when a thread ends): the kernel has another.
 *
 * Nothing is replaced where no trap comes, nor where a seccomp filter may forbid the calls.
 */
#include "agent/signals/altstack.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/signals/stack_pool.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* since Linux 5.14 on x86-64 */
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31) /* linux/signal.h */
#endif

/* Signals that may be handled on it at once: a trap, and in its handler two faults (faults.c). */
#define NESTED_SIGNALS 3
/* Further stacks that a thread sets are given to the kernel as they are. */
#define THREAD_STACKS_MAX 8

/* A stack of ours.  This struct is at the upper end of its mapping, above the stack. */
struct altstack {
	struct altstack *next;
	stack_t theirs;
	stack_t ours;
	void *mapping;
	size_t mapping_bytes;
};

static struct {
	size_t frame_bytes; /* the kernel's frame of one signal, with all registers */
	pthread_key_t thread_end;
	bool has_thread_end;
} altstacks AGENT_STATE;

/* The calling thread's stacks; a child of fork has a copy of each. */
static __thread struct {
	void *pooled; /* registered while the program has none; or NULL */
	struct altstack *first;
	u32 count;
	u32 end_rounds;
} own;

static long altstack_call(const stack_t *stack, stack_t *old)
{
	return arch_syscall4(SYS_sigaltstack, (long)stack, (long)old, 0, 0);
}

static stack_t altstack_pooled(void)
{
	return (stack_t){ .ss_sp = own.pooled, .ss_size = STACK_POOL_BYTES };
}

/* The replacement with this address in the kernel. */
static struct altstack *altstack_find_ours(const void *address)
{
	struct altstack *stack = own.first;

	while (stack != NULL && stack->ours.ss_sp != address)
		stack = stack->next;
	return stack;
}

bool altstack_is_ours(const stack_t *in_kernel)
{
	return (own.pooled != NULL && in_kernel->ss_sp == own.pooled) ||
	       altstack_find_ours(in_kernel->ss_sp) != NULL;
}

static struct altstack *altstack_find_theirs(const stack_t *theirs)
{
	struct altstack *stack = own.first;

	while (stack != NULL && (stack->theirs.ss_sp != theirs->ss_sp ||
				 stack->theirs.ss_size != theirs->ss_size))
		stack = stack->next;
	return stack;
}

/* Whether a handler that ends the thread runs on one of these: then they stay as they are. */
static bool altstack_is_stood_on(void)
{
	const u64 here = (u64)__builtin_frame_address(0);
	const struct altstack *stack = own.first;

	while (stack != NULL && (here < (u64)stack->mapping || here >= (u64)stack))
		stack = stack->next;
	return stack != NULL ||
	       (own.pooled != NULL && here - (u64)own.pooled < STACK_POOL_BYTES);
}

/*
 * Runs in the last round of libc's destructors when a thread ends: by then no code of the program's
 * runs in it, and a trap that still comes uses the thread's own stack.
 */
static void altstack_end_thread(void *unused)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	struct altstack *stack = own.first, *next;
	void *pooled = own.pooled;

	(void)unused;
	if (++own.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(altstacks.thread_end, &own);
		return;
	}
	/* Under a filter that may forbid the calls, the stacks stay registered to the end. */
	if (!permits.may_call || altstack_is_stood_on())
		return;
	own.first = NULL;
	own.pooled = NULL;
	altstack_call(&none, NULL);
	stack_pool_give(pooled);
	for (; stack != NULL; stack = next) {
		next = stack->next;
		arch_syscall4(SYS_munmap, (long)stack->mapping, (long)stack->mapping_bytes, 0,
			      0);
	}
}

AGENT_START void altstack_begin(void)
{
	const unsigned long bytes = getauxval(AT_MINSIGSTKSZ);

	altstacks.frame_bytes = bytes != 0 ? bytes : MEMORY_PAGE;
	/* Begun again, after altstack_give_back(). */
	if (altstacks.has_thread_end)
		return;
	/*
	 * Before any library's constructor, so of the first keys, whose values a handler may set
	 * (core/thread_key.h); in a process that was attached to, handlers set none.
	 */
	altstacks.has_thread_end =
		pthread_key_create(&altstacks.thread_end, altstack_end_thread) == 0;
}

AGENT_START bool altstack_is_wanted(void)
{
	const bool is_sampled = own_ring.header != NULL || own_handshake.is_due;

	return is_sampled && own_process.is_trap_ours && permits.may_call &&
	       altstacks.has_thread_end;
}

AGENT_START void altstack_begin_thread(void)
{
	stack_t before;

	if (own.pooled != NULL || own.end_rounds > 0 || !altstack_is_wanted())
		return;
	own.pooled = stack_pool_take();
	if (own.pooled == NULL)
		return;
	const stack_t ours = altstack_pooled();

	if (altstack_call(&ours, &before) != 0) {
		stack_pool_give(own.pooled);
		own.pooled = NULL;
		return;
	}
	/* Any value but NULL has the destructor called. */
	pthread_setspecific(altstacks.thread_end, &own);
	/* A stack that the program set before it was sampled stays. */
	if (!(before.ss_flags & SS_DISABLE))
		altstack_call(&before, NULL);
}

AGENT_START void altstack_forget_others(void)
{
	if (own_process.has_had_threads)
		stack_pool_forget_others(own.pooled);
}

void altstack_give_back(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	if (own.pooled == NULL || !permits.may_call || altstack_is_stood_on() ||
	    altstack_call(NULL, &now) != 0)
		return;
	if (now.ss_sp == own.pooled)
		altstack_call(&none, NULL);
	stack_pool_give(own.pooled);
	own.pooled = NULL;
}

size_t altstack_frame_bytes(void)
{
	return altstacks.frame_bytes;
}

/* Makes a replacement for a stack of the program's, in the thread's list; NULL: no memory. */
static struct altstack *altstack_make(const stack_t *theirs)
{
	const size_t more = NESTED_SIGNALS * (altstacks.frame_bytes + AGENT_STACK_NEED) +
			    sizeof(struct altstack) + 2 * MEMORY_PAGE - 1;
	size_t bytes;

	if (__builtin_add_overflow(theirs->ss_size, more, &bytes))
		return NULL;
	bytes &= ~(MEMORY_PAGE - 1);
	char *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (mapping == MAP_FAILED)
		return NULL;
	/* A guard page: without it an overflow would write over other memory. */
	if (mprotect(mapping, MEMORY_PAGE, PROT_NONE) < 0) {
		munmap(mapping, bytes);
		return NULL;
	}
	struct altstack *made = (struct altstack *)(mapping + bytes) - 1;

	*made = (struct altstack){
		.next = own.first,
		.theirs = *theirs,
		.ours = { .ss_sp = mapping + MEMORY_PAGE,
			  .ss_size = (size_t)((char *)made - mapping) - MEMORY_PAGE },
		.mapping = mapping,
		.mapping_bytes = bytes,
	};
	own.first = made;
	own.count++;
	pthread_setspecific(altstacks.thread_end, &own);
	return made;
}

/* Whether the kernel accepts it (do_sigaltstack()); else it is passed on as it is. */
static bool altstack_is_accepted(const stack_t *stack)
{
	const unsigned int mode = (unsigned int)stack->ss_flags & ~SS_AUTODISARM;

	if (mode == SS_DISABLE)
		return true;
	return (mode == 0 || mode == SS_ONSTACK) && stack->ss_size >= ARCH_LEAST_ALTSTACK;
}

/* The stack to give the kernel for one that the program sets. */
static stack_t altstack_for(const stack_t *theirs)
{
	struct altstack *stack;
	stack_t ours = *theirs;

	if (theirs->ss_flags & SS_DISABLE)
		return own.pooled != NULL ? altstack_pooled() : ours;
	stack = altstack_find_theirs(theirs);
	if (stack == NULL && own.count < THREAD_STACKS_MAX && altstack_is_wanted() &&
	    own.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		stack = altstack_make(theirs);
	if (stack != NULL) {
		ours.ss_sp = stack->ours.ss_sp;
		ours.ss_size = stack->ours.ss_size;
	}
	return ours;
}

/* Replaces the kernel's stack in *old by what the program set. */
static void altstack_report(stack_t *old)
{
	const struct altstack *ours = altstack_find_ours(old->ss_sp);

	if (ours != NULL) {
		old->ss_sp = ours->theirs.ss_sp;
		old->ss_size = ours->theirs.ss_size;
	} else if (own.pooled != NULL && old->ss_sp == own.pooled) {
		*old = (stack_t){ .ss_flags = SS_DISABLE };
	}
}

/* A child of vfork has its own alternate stack, but this memory is its parent's. */
bool altstack_is_for_us(const stack_t *stack)
{
	return stack != NULL && permits.may_call &&
	       memory_probe_all((u64)stack, sizeof *stack) && altstack_is_accepted(stack) &&
	       !agent_is_of_another();
}

long altstack_set(const stack_t *stack, bool is_for_us, stack_t *old)
{
	const stack_t *shown = stack;
	stack_t ours;

	if (is_for_us && (own.pooled != NULL || altstack_is_wanted())) {
		ours = altstack_for(stack);
		shown = &ours;
	}
	const long rc = altstack_call(shown, old);

	if (rc == 0 && old != NULL)
		altstack_report(old);
	return rc;
}
