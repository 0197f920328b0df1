#include "agent/signals/stack_pool.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/types.h"
#include "agent/core/arch.h"
#include "agent/core/agent_state.h"

#define CHUNK_STACKS 16U
#define CHUNK_BYTES  (CHUNK_STACKS * STACK_POOL_BYTES)
/* A process with more than 16,384 threads has the rest without a stack of ours. */
#define CHUNKS 1024U

static struct chunk {
	u8 *stacks; /* NULL: not mapped yet */
	u32 in_use; /* one bit each */
} chunks[CHUNKS];

static u8 first_stack[STACK_POOL_BYTES] __attribute__((aligned(64)));
static bool is_first_in_use AGENT_STATE;

AGENT_START static bool take_first(void)
{
	bool is_free = false;

	return __atomic_compare_exchange_n(&is_first_in_use, &is_free, true, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* False if there is no memory.  Of two threads that map the same chunk one unmaps its own. */
static bool chunk_map(struct chunk *chunk)
{
	u8 *none = NULL;
	const long mapping =
		arch_syscall6(SYS_mmap, 0, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (mapping < 0 && mapping > -4096)
		return false;
	/* Huge pages: two megabytes of zeroes for the two used pages of each stack. */
	arch_syscall4(SYS_madvise, mapping, CHUNK_BYTES, MADV_NOHUGEPAGE, 0);
	if (!__atomic_compare_exchange_n(&chunk->stacks, &none, (u8 *)mapping, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		arch_syscall4(SYS_munmap, mapping, CHUNK_BYTES, 0, 0);
	return true;
}

static void *chunk_take(struct chunk *chunk)
{
	u32 in_use = __atomic_load_n(&chunk->in_use, __ATOMIC_RELAXED);

	for (;;) {
		const u32 free = ~in_use & ((1U << CHUNK_STACKS) - 1);

		if (free == 0)
			return NULL;
		const u32 bit = free & -free;

		/* Pairs with the release in stack_pool_give(). */
		if (__atomic_compare_exchange_n(&chunk->in_use, &in_use, in_use | bit, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return chunk->stacks + (size_t)__builtin_ctz(bit) * STACK_POOL_BYTES;
	}
}

AGENT_START void *stack_pool_take(void)
{
	if (take_first())
		return first_stack;
	for (u32 i = 0; i < CHUNKS; i++) {
		/* Pairs with the release in chunk_map(). */
		if (__atomic_load_n(&chunks[i].stacks, __ATOMIC_ACQUIRE) == NULL &&
		    !chunk_map(&chunks[i]))
			return NULL;
		void *stack = chunk_take(&chunks[i]);

		if (stack != NULL)
			return stack;
	}
	return NULL;
}

/* The chunk that a stack belongs to, and its bit there. */
static struct chunk *chunk_of(const void *stack, u32 *out_bit)
{
	for (u32 i = 0; i < CHUNKS && chunks[i].stacks != NULL; i++) {
		const size_t offset = (size_t)((const u8 *)stack - chunks[i].stacks);

		*out_bit = 1U << (offset / STACK_POOL_BYTES % CHUNK_STACKS);
		if (offset < CHUNK_BYTES)
			return &chunks[i];
	}
	return NULL;
}

void stack_pool_give(void *stack)
{
	u32 bit;

	if (stack == first_stack) {
		/* Pairs with the acquire in take_first(). */
		__atomic_store_n(&is_first_in_use, false, __ATOMIC_RELEASE);
		return;
	}
	struct chunk *chunk = chunk_of(stack, &bit);

	if (chunk != NULL)
		__atomic_fetch_and(&chunk->in_use, ~bit, __ATOMIC_RELEASE);
}

AGENT_START void stack_pool_forget_others(const void *stack)
{
	u32 bit = 0;
	const struct chunk *own = chunk_of(stack, &bit);

	is_first_in_use = stack == first_stack;
	for (u32 i = 0; i < CHUNKS && chunks[i].stacks != NULL; i++)
		chunks[i].in_use = own == &chunks[i] ? bit : 0;
}
