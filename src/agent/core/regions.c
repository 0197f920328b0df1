#include "agent/core/regions.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"
#include "walk/code_key.h"

/* When no slot is free, of so many it is checked whether their threads have ended. */
#define ROOMS_ASKED 32U
#define NO_THREAD   (~0U) /* the owner of a slot, if its id is not known */
/* Distinct names that are kept: a program may make one up for each request. */
#define NAMES       512U
#define NAME_PROBES 16U

_Static_assert(REGIONS_OPEN <= 64, "a walk has a bit for each");

enum { NAME_FREE, NAME_IN_THE_MAKING, NAME_READY };

static struct {
	struct regions_area area;
	struct region_name names[NAMES];
	u32 name_states[NAMES];
	u64 last_serial;
	u32 asked; /* the slot whose thread is checked next */
} shared;

__thread struct regions *regions_own;
static __thread u32 own_tid; /* 0: not asked for so far */

static const char before_name[] = "[region ";
static const char name_of_the_rest[] = "and others: there are too many names";

static u64 key_of(const char *name, u64 length)
{
	u64 hash = 0x13198a2e03707344ULL;

	for (u64 i = 0; i < length; i++)
		hash = code_mix(hash, (u8)name[i]);
	return code_key_of_hash(code_mix(hash, length));
}

static void put_bytes(struct name_text *text, const char *bytes, u64 length)
{
	for (u64 i = 0; i < length; i++)
		name_text_put(text, (u8)bytes[i]);
}

static void make_name(struct region_name *made, u64 key, const char *name, u64 length)
{
	made->key = key;
	made->text.length = 0;
	made->text.is_cut = 0;
	put_bytes(&made->text, before_name, sizeof before_name - 1);
	put_bytes(&made->text, name, length);
	name_text_put(&made->text, ']');
}

/* Finds the name in one of its slots, or makes it in a free one; NULL: there is neither. */
static const struct region_name *find_name(u64 key, const char *name, u64 length)
{
	for (u32 i = 0; i < NAME_PROBES; i++) {
		const u32 slot = (u32)((key >> RING_INSTRUCTION_BITS) + i) % NAMES;
		u32 state = NAME_FREE;

		/* Pairs with the release below: a name that is ready is whole. */
		if (__atomic_compare_exchange_n(&shared.name_states[slot], &state,
						NAME_IN_THE_MAKING, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE)) {
			make_name(&shared.names[slot], key, name, length);
			__atomic_store_n(&shared.name_states[slot], NAME_READY,
					 __ATOMIC_RELEASE);
			return &shared.names[slot];
		}
		if (state == NAME_READY && shared.names[slot].key == key)
			return &shared.names[slot];
	}
	return NULL;
}

/* Cuts a name at a character's beginning: a part of a multi-byte character is invalid. */
static u64 cut_length(const char *name, u64 length)
{
	if (length <= REGION_NAME_MAX)
		return length;
	length = REGION_NAME_MAX;
	while (length > 0 && ((u8)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static const struct region_name *name_of(u64 key, const char *name, u64 length)
{
	const u64 rest_length = sizeof name_of_the_rest - 1;
	const struct region_name *found = find_name(key, name, length);

	if (found == NULL)
		found = find_name(key_of(name_of_the_rest, rest_length), name_of_the_rest,
				  rest_length);
	return found;
}

/* Whether the owner has ended within a region, and so not given its slot back. */
static bool is_left(u32 owner)
{
	return owner != NO_THREAD && permits.may_call &&
	       arch_syscall4(SYS_tgkill, own_process.pid, owner, 0, 0) == -ESRCH;
}

/* Takes the first free one of `count` slots; with_left: or one whose thread has ended. */
static struct regions *take_slot_among(u32 first, u32 count, bool with_left)
{
	for (u32 i = 0; i < count; i++) {
		const u32 slot = (first + i) % REGIONS_SLOTS;
		u32 owner = __atomic_load_n(&shared.area.owners[slot], __ATOMIC_RELAXED);

		if (owner != 0 && (!with_left || !is_left(owner)))
			continue;
		if (__atomic_compare_exchange_n(&shared.area.owners[slot], &owner, own_tid, 0,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			shared.area.slots[slot].count = 0;
			return &shared.area.slots[slot];
		}
	}
	return NULL;
}

static struct regions *take_slot(void)
{
	const u32 first = (u32)(arch_thread_pointer() >> 12);

	if (own_tid == 0)
		own_tid = permits.may_call ? (u32)arch_syscall4(SYS_gettid, 0, 0, 0, 0)
					   : NO_THREAD;
	struct regions *slot = take_slot_among(first, REGIONS_SLOTS, false);

	if (slot == NULL)
		slot = take_slot_among(
			__atomic_fetch_add(&shared.asked, ROOMS_ASKED, __ATOMIC_RELAXED),
			ROOMS_ASKED, true);
	return slot;
}

static void give_slot(struct regions *slot)
{
	__atomic_store_n(&shared.area.owners[slot - shared.area.slots], 0, __ATOMIC_RELEASE);
}

/*
 * A trap, or a handler of the program's that begins and ends regions of its own, may come
 * between any two instructions: so a region's place is taken before it is filled, and it has a
 * serial only when it is whole.
 */
const struct region *regions_begin(const struct region_place *place, const char *name,
				   u64 length)
{
	if (regions_own == NULL)
		regions_own = take_slot();
	struct regions *own = regions_own;

	if (own == NULL)
		return NULL;
	if (own->count >= REGIONS_OPEN) {
		own->count++;
		return NULL;
	}
	struct region *region = &own->open[own->count];

	region->serial = 0;
	atomic_signal_fence(memory_order_seq_cst);
	own->count++;
	atomic_signal_fence(memory_order_seq_cst);
	length = cut_length(name, length);
	region->key = key_of(name, length);
	region->name = name_of(region->key, name, length);
	region->place = *place;
	atomic_signal_fence(memory_order_seq_cst);
	region->serial = region->name == NULL
				 ? 0
				 : __atomic_add_fetch(&shared.last_serial, 1, __ATOMIC_RELAXED);
	return region->serial != 0 ? region : NULL;
}

/*
 * How likely a region that was begun in one place is the one that is ended in another: 2 in the
 * same frame, 1 where the function that began it has returned to the one that ends it, or the
 * other way round, 0 elsewhere.
 */
static u32 nearness(const struct region_place *begun, const struct region_place *ended)
{
	if (begun->anchor != ended->anchor || begun->count == 0 || ended->count == 0)
		return 0;
	if (begun->frames[0].frame == ended->frames[0].frame &&
	    begun->frames[0].code == ended->frames[0].code)
		return 2;
	for (u32 i = 0; i < ended->count; i++) {
		if (region_place_has_frame(begun, ended->frames[i].frame,
					   ended->frames[i].code))
			return 1;
	}
	return 0;
}

/* The index, plus one, of the region that is to be ended; 0: there is none. */
static u32 find_open(const struct regions *own, const struct region_place *place, u64 key)
{
	u32 found = 0, nearest = 0;

	for (u32 i = own->count; i > 0; i--) {
		const struct region *region = &own->open[i - 1];

		if (key == 0)
			return i;
		if (region->serial == 0 || region->key != key)
			continue;
		const u32 near = nearness(&region->place, place);

		if (found == 0 || near > nearest) {
			found = i;
			nearest = near;
		}
	}
	return found;
}

/*
 * Moves regions down over an ended one.  A trap meanwhile takes no sample, since it would find them
 * half moved; its time goes to the next sample.
 */
static void close_gap(struct regions *own, u32 index)
{
	const bool was_in_agent = thread_notes.is_in_agent;

	thread_notes.is_in_agent = true;
	atomic_signal_fence(memory_order_seq_cst);
	for (u32 i = index; i + 1 < own->count; i++)
		own->open[i] = own->open[i + 1];
	atomic_signal_fence(memory_order_seq_cst);
	own->count--;
	thread_notes.is_in_agent = was_in_agent;
}

u64 regions_end(const struct region_place *place, const char *name, u64 length)
{
	struct regions *own = regions_own;
	u64 serial = 0;

	if (own == NULL)
		return 0;
	if (own->count > REGIONS_OPEN) {
		own->count--;
		return 0;
	}
	const u64 key = length != 0 ? key_of(name, cut_length(name, length)) : 0;
	const u32 found = find_open(own, place, key);

	if (found != 0) {
		serial = own->open[found - 1].serial;
		own->open[found - 1].serial = 0;
		atomic_signal_fence(memory_order_seq_cst);
		if (found == own->count)
			own->count--;
		else
			close_gap(own, found - 1);
	}
	if (own->count == 0) {
		regions_own = NULL;
		give_slot(own);
	}
	return serial;
}

u64 regions_address(void)
{
	return (u64)&shared.area;
}

void regions_forget_others(void)
{
	own_tid = 0;
	for (u32 i = 0; i < REGIONS_SLOTS; i++) {
		if (shared.area.owners[i] != 0 && &shared.area.slots[i] != regions_own)
			shared.area.owners[i] = 0;
	}
	/* The thread's id was the parent's: NO_THREAD is not checked. */
	if (regions_own != NULL)
		shared.area.owners[regions_own - shared.area.slots] = NO_THREAD;
}
