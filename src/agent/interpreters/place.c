#include "agent/interpreters/place.h"

#include "agent/core/images.h"

static u32 flushes;

bool interpreter_is_loaded(struct interpreter_place *place, struct mem *mem, u64 loop,
			   u64 load_bias)
{
	const u32 now = __atomic_load_n(&flushes, __ATOMIC_ACQUIRE) + 1;

	/* Pairs with the release below: the loop is that which was found. */
	if (__atomic_load_n(&place->found_in, __ATOMIC_ACQUIRE) == now &&
	    __atomic_load_n(&place->loop, __ATOMIC_RELAXED) == loop)
		return true;
	if (!image_is_at(loop, load_bias, mem))
		return false;
	__atomic_store_n(&place->loop, loop, __ATOMIC_RELAXED);
	__atomic_store_n(&place->found_in, now, __ATOMIC_RELEASE);
	return true;
}

void interpreter_places_flush(void)
{
	__atomic_fetch_add(&flushes, 1, __ATOMIC_RELEASE);
}
