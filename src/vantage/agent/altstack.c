/*
 * altstack - a signal stack that is too small for our trap is replaced by a larger one.
 *
 * Our handler runs on the stack it finds (decision 0011), and while a handler of the program's
 * runs on its alternate stack, that is the one.  A trap takes a signal frame there (3.3 KiB
 * with AVX-512) and what our handler needs, and a stack of SIGSTKSZ bytes was made without
 * them: a legal 2,048-byte stack is overrun at once, into whatever lies below it.
 *
 * So the kernel is given a stack of ours, as large as theirs and room for one trap, with
 * a page below it that cannot be written; and sigaltstack() answers with theirs.  Each
 * of theirs has one of ours for as long as the thread lives: coroutine libraries go on using
 * a signal stack after it has been replaced by the next (GNU Pth), so none is used for
 * another or given back earlier.
 *
 * A stack that disarms itself (SS_AUTODISARM) is left as it is: the kernel keeps it in the
 * frame of the signal, where the program may exchange it.
 */
#include "vantage/agent/altstack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/hooks.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* since Linux 5.14 on x86-64 */
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31) /* linux/signal.h */
#endif

/* What a handler of the program's may be counted on to do with: printf() takes half of it. */
#define HANDLER_ROOM 8192
/* A thread that has more small stacks than this keeps the rest as they are. */
#define THREAD_STACKS_MAX 8

/* One of ours.  Lies at the upper end of its mapping, above the stack. */
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
} altstacks;

/* Those of the calling thread; a child of fork has a copy of each. */
static __thread struct {
	struct altstack *first;
	u32 count;
	u64 low, bytes; /* of the stack that is in use, whoever's; 0: there is none */
} own;

static long altstack_call(const stack_t *stack, stack_t *old)
{
	return arch_syscall4(SYS_sigaltstack, (long)stack, (long)old, 0, 0);
}

/* The replacement that the kernel knows by this address. */
static struct altstack *altstack_find_ours(const void *address)
{
	struct altstack *stack = own.first;

	while (stack != NULL && stack->ours.ss_sp != address)
		stack = stack->next;
	return stack;
}

static struct altstack *altstack_find_theirs(const stack_t *theirs)
{
	struct altstack *stack = own.first;

	while (stack != NULL && (stack->theirs.ss_sp != theirs->ss_sp ||
				 stack->theirs.ss_size != theirs->ss_size))
		stack = stack->next;
	return stack;
}

static bool altstack_is_small(const stack_t *stack)
{
	return !(stack->ss_flags & (int)(SS_DISABLE | SS_AUTODISARM)) &&
	       stack->ss_size < 2 * altstacks.frame_bytes + AGENT_STACK_NEED + HANDLER_ROOM;
}

/* Of the program's thread that ends: the kernel is told of the program's stack again. */
static void altstack_end_thread(void *unused)
{
	struct altstack *stack = own.first, *next;
	const u8 *here = __builtin_frame_address(0);
	stack_t now;

	(void)unused;
	own.first = NULL;
	own.count = 0;
	own.bytes = 0;
	for (; stack != NULL; stack = next) {
		next = stack->next;
		/* A handler has ended the thread: it stands on this very stack. */
		if (here >= (u8 *)stack->mapping && here < (u8 *)stack)
			continue;
		if (altstack_call(NULL, &now) == 0 && now.ss_sp == stack->ours.ss_sp)
			altstack_call(&stack->theirs, NULL);
		arch_syscall4(SYS_munmap, (long)stack->mapping, (long)stack->mapping_bytes, 0,
			      0);
	}
}

void altstack_begin(void)
{
	const unsigned long told = getauxval(AT_MINSIGSTKSZ);

	altstacks.frame_bytes = told != 0 ? told : MEMORY_PAGE;
	altstacks.has_thread_end =
		pthread_key_create(&altstacks.thread_end, altstack_end_thread) == 0;
}

size_t altstack_frame_bytes(void)
{
	return altstacks.frame_bytes;
}

/* A stack of ours for one of theirs, in the thread's list; NULL where there is no memory. */
static struct altstack *altstack_make(const stack_t *theirs)
{
	const size_t stack_bytes = theirs->ss_size + altstacks.frame_bytes + AGENT_STACK_NEED;
	const size_t bytes =
		(MEMORY_PAGE + stack_bytes + sizeof(struct altstack) + MEMORY_PAGE - 1) &
		~(MEMORY_PAGE - 1);
	char *mapping =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapping == MAP_FAILED)
		return NULL;
	/* Without the page that ends it, what overflows it would write over other memory. */
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
	/* Any value but NULL has the destructor called. */
	pthread_setspecific(altstacks.thread_end, made);
	return made;
}

static void altstack_remember(const stack_t *stack)
{
	own.low = (u64)stack->ss_sp;
	own.bytes = stack->ss_flags & SS_DISABLE ? 0 : stack->ss_size;
}

bool altstack_holds(u64 address)
{
	return address - own.low < own.bytes;
}

/* The kernel has taken their stack: it is given ours instead, if theirs is small. */
static void altstack_replace(const stack_t *theirs)
{
	struct altstack *stack = altstack_find_theirs(theirs);

	/* A vfork child's stack is its own, but this memory is its parent's. */
	if (!altstacks.has_thread_end || agent.ring == NULL || !agent.may_call ||
	    agent_is_of_another())
		return;
	if (stack == NULL && own.count < THREAD_STACKS_MAX)
		stack = altstack_make(theirs);
	if (stack != NULL) {
		altstack_call(&stack->ours, NULL);
		altstack_remember(&stack->ours);
	}
}

AGENT_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	const long rc = altstack_call(stack, old);
	stack_t now;

	if (rc != 0) {
		errno = (int)-rc;
		return -1;
	}
	/* Both may be one: then their stack is what the kernel knows. */
	if (stack != NULL && stack == old)
		altstack_call(NULL, &now);
	else if (stack != NULL)
		now = *stack;
	const struct altstack *ours = old != NULL ? altstack_find_ours(old->ss_sp) : NULL;

	if (ours != NULL) {
		old->ss_sp = ours->theirs.ss_sp;
		old->ss_size = ours->theirs.ss_size;
	}
	if (stack == NULL)
		return 0;
	altstack_remember(&now);
	if (altstack_is_small(&now))
		altstack_replace(&now);
	return 0;
}
