#include "agent/exec/scratch.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"

#define SCRATCH_COUNT 16
/* The least that is mapped, so that one exec's memory fits the next one's needs. */
#define SCRATCH_LEAST 8192

struct scratch {
	u32 is_taken;
	u32 *tid_address; /* the taker's former clear_child_tid address, if it was changed */
	void *memory;
	size_t bytes;
};

static struct scratch scratches[SCRATCH_COUNT] AGENT_STATE;

/*
 * Has the kernel free a scratch of a vfork child, whose exec does not return.  At exec, and when
 * the child ends, the kernel clears the word that set_tid_address(2) named, if another process
 * still uses this memory (kernel/fork.c, mm_release): that word is is_taken.  A process has one
 * such word: false if this one has named a scratch's already.
 */
static bool leave_to_kernel(struct scratch *scratch)
{
	scratch->tid_address = NULL;
	arch_syscall4(SYS_prctl, PR_GET_TID_ADDRESS, (long)&scratch->tid_address, 0, 0);
	if ((u8 *)scratch->tid_address >= (u8 *)scratches &&
	    (u8 *)scratch->tid_address < (u8 *)(scratches + SCRATCH_COUNT))
		return false;
	arch_syscall4(SYS_set_tid_address, (long)&scratch->is_taken, 0, 0, 0);
	return true;
}

static bool scratch_fit(struct scratch *scratch, size_t bytes)
{
	if (scratch->bytes >= bytes)
		return true;
	if (bytes < SCRATCH_LEAST)
		bytes = SCRATCH_LEAST;
	if (scratch->memory != NULL)
		munmap(scratch->memory, scratch->bytes);
	scratch->memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (scratch->memory == MAP_FAILED)
		scratch->memory = NULL;
	scratch->bytes = scratch->memory != NULL ? bytes : 0;
	return scratch->memory != NULL;
}

struct scratch *scratch_take(size_t bytes)
{
	for (size_t i = 0; i < SCRATCH_COUNT; i++) {
		struct scratch *scratch = &scratches[i];
		u32 is_free = 0;

		if (!__atomic_compare_exchange_n(&scratch->is_taken, &is_free, 1, 0,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		if (!scratch_fit(scratch, bytes) ||
		    (agent_is_of_another() && !leave_to_kernel(scratch))) {
			/* Pairs with the acquire above. */
			__atomic_store_n(&scratch->is_taken, 0, __ATOMIC_RELEASE);
			return NULL;
		}
		return scratch;
	}
	return NULL;
}

void *scratch_memory(const struct scratch *scratch)
{
	return scratch->memory;
}

void scratch_give(struct scratch *scratch)
{
	if (agent_is_of_another())
		arch_syscall4(SYS_set_tid_address, (long)scratch->tid_address, 0, 0, 0);
	/* Pairs with the acquire in scratch_take(). */
	__atomic_store_n(&scratch->is_taken, 0, __ATOMIC_RELEASE);
}

AGENT_START void scratch_forget(void)
{
	for (size_t i = 0; i < SCRATCH_COUNT; i++)
		scratches[i].is_taken = 0;
}

bool pointer_array_take(struct pointer_array *pointers, size_t count)
{
	pointers->scratch = NULL;
	pointers->entries = pointers->few;
	if (count <= POINTER_ARRAY_FEW)
		return true;
	pointers->scratch = scratch_take(count * sizeof(char *));
	if (pointers->scratch == NULL)
		return false;
	pointers->entries = scratch_memory(pointers->scratch);
	return true;
}

void pointer_array_give(struct pointer_array *pointers)
{
	if (pointers->scratch != NULL)
		scratch_give(pointers->scratch);
}
