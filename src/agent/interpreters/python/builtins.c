#include "agent/interpreters/python/builtins.h"

#include "agent/core/arch.h"
#include "agent/core/images.h"
#include "agent/core/memory.h"
#include "walk/native.h"

#define KNOWN        2048U
#define KNOWN_PROBES 4U
#define RANGES       4U
/* Bytes of a function in which jumps are looked for: wrappers are short. */
#define CODE_LOOKED_AT 1024U

struct range {
	u64 begin, end;
};

/* A function's code; a slot is free if its generation is not the present one. */
struct function {
	u64 address;
	struct range ranges[RANGES];
	u32 count;
	u32 state; /* the generation << 1; plus 1 when the rest is complete */
};

static struct function known[KNOWN];
static u32 generation = 1;

void builtins_flush(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

/* Finds the range of the function that begins at this address. */
static bool find_function(struct mem *mem, struct native_scratch *scratch, u64 address,
			  struct range *out_range)
{
	struct eh_lookup *found = &scratch->found;
	struct native_image image;

	if (!image_find(address, false, mem, &image) ||
	    eh_lookup_find(found, mem, &image, address) != WALK_COMPLETE ||
	    found->fde.begin != address)
		return false;
	*out_range = (struct range){ found->fde.begin, found->fde.end };
	return true;
}

static bool has_range(const struct function *function, u64 address)
{
	for (u32 i = 0; i < function->count; i++) {
		if (address >= function->ranges[i].begin && address < function->ranges[i].end)
			return true;
	}
	return false;
}

/* Adds the functions to which a part jumps. */
static void add_jumps(struct mem *mem, struct native_scratch *scratch,
		      struct function *function, struct range part)
{
	const u64 end =
		part.end - part.begin < CODE_LOOKED_AT ? part.end : part.begin + CODE_LOOKED_AT;

	for (u64 at = part.begin; at < end && function->count < RANGES; at += ARCH_CODE_STEP) {
		u8 code[ARCH_JUMP_BYTES];
		u64 target;

		if (end - at < sizeof code || mem_read(mem, code, sizeof code, at) < 0)
			return;
		if (!arch_jump_target(code, at, &target) || has_range(function, target))
			continue;
		if (find_function(mem, scratch, target, &function->ranges[function->count]))
			function->count++;
	}
}

static void learn(struct mem *mem, struct native_scratch *scratch, struct function *function)
{
	function->count = 0;
	if (!find_function(mem, scratch, function->address, &function->ranges[0]))
		return;
	function->count = 1;
	for (u32 i = 0; i < function->count; i++)
		add_jumps(mem, scratch, function, function->ranges[i]);
}

/* The function's slot, filled if it is new; NULL: it is new and no slot is free. */
static const struct function *get(struct mem *mem, struct native_scratch *scratch, u64 address)
{
	const u32 now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	const u32 first = (u32)(address * 0x9e3779b97f4a7c15ULL >> 40);

	for (u32 i = 0; i < KNOWN_PROBES; i++) {
		struct function *slot = &known[(first + i) % KNOWN];
		/* Pairs with the release below: a slot that is seen complete is so. */
		u32 state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (state == (now << 1 | 1) && slot->address == address)
			return slot;
		if (state >> 1 == now ||
		    !__atomic_compare_exchange_n(&slot->state, &state, now << 1, 0,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		slot->address = address;
		learn(mem, scratch, slot);
		__atomic_store_n(&slot->state, now << 1 | 1, __ATOMIC_RELEASE);
		return slot;
	}
	return NULL;
}

u32 builtins_find(struct mem *mem, struct native_scratch *scratch, u64 function,
		  const u64 *addresses, u32 count)
{
	const struct function *code = get(mem, scratch, function);

	for (u32 i = 0; i < count; i++) {
		if (code != NULL && has_range(code, addresses[i]))
			return i;
	}
	return count;
}
