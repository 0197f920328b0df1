#include "agent/core/room.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"

#define ROOM_COUNT 16
/* Less is not worth mapping: one exec's needs fit the room of another's. */
#define ROOM_LEAST 8192

struct room {
	u32 is_taken;
	u32 *tid_address; /* what the taker's was, if it had to be changed */
	void *memory;
	size_t bytes;
};

static struct room rooms[ROOM_COUNT] AGENT_STATE;

/*
 * An exec in a vfork child does not come back to give its room back.  But the kernel tells of
 * it: at exec, and when the child ends, it clears the word that set_tid_address(2) named, if
 * another process still uses this memory (kernel/fork.c, mm_release).  There is one such word
 * for each process: false if this one has a room already.
 */
static bool leave_to_kernel(struct room *room)
{
	room->tid_address = NULL;
	arch_syscall4(SYS_prctl, PR_GET_TID_ADDRESS, (long)&room->tid_address, 0, 0);
	if ((u8 *)room->tid_address >= (u8 *)rooms &&
	    (u8 *)room->tid_address < (u8 *)(rooms + ROOM_COUNT))
		return false;
	arch_syscall4(SYS_set_tid_address, (long)&room->is_taken, 0, 0, 0);
	return true;
}

static bool room_fit(struct room *room, size_t bytes)
{
	if (room->bytes >= bytes)
		return true;
	if (bytes < ROOM_LEAST)
		bytes = ROOM_LEAST;
	if (room->memory != NULL)
		munmap(room->memory, room->bytes);
	room->memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room->memory == MAP_FAILED)
		room->memory = NULL;
	room->bytes = room->memory != NULL ? bytes : 0;
	return room->memory != NULL;
}

struct room *room_take(size_t bytes)
{
	for (size_t i = 0; i < ROOM_COUNT; i++) {
		struct room *room = &rooms[i];
		u32 is_free = 0;

		if (!__atomic_compare_exchange_n(&room->is_taken, &is_free, 1, 0,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		if (!room_fit(room, bytes) ||
		    (agent_is_of_another() && !leave_to_kernel(room))) {
			/* Pairs with the acquire above. */
			__atomic_store_n(&room->is_taken, 0, __ATOMIC_RELEASE);
			return NULL;
		}
		return room;
	}
	return NULL;
}

void *room_memory(const struct room *room)
{
	return room->memory;
}

void room_give(struct room *room)
{
	if (agent_is_of_another())
		arch_syscall4(SYS_set_tid_address, (long)room->tid_address, 0, 0, 0);
	/* Pairs with the acquire in room_take(). */
	__atomic_store_n(&room->is_taken, 0, __ATOMIC_RELEASE);
}

AGENT_START void room_forget(void)
{
	for (size_t i = 0; i < ROOM_COUNT; i++)
		rooms[i].is_taken = 0;
}
