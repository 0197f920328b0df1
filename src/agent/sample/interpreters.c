#include "agent/sample/interpreters.h"

#include "agent/core/images.h"

static u32 flushes;

bool interpreters_is_loaded(struct interpreter_place *place, struct mem *mem, u64 loop,
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

void interpreters_flush(void)
{
	__atomic_fetch_add(&flushes, 1, __ATOMIC_RELEASE);
}

void interpreters_find_stack(const struct walk *walk, struct mem *mem)
{
	if (!mem->is_own_stack)
		ruby_find_stack(walk, mem);
}

void interpreters_begin_walk(struct walk *walk, struct mem *mem)
{
	python_begin_walk(walk->python, walk->ring, mem);
	ruby_begin_walk(walk->ruby, walk->ring, mem);
}

bool interpreters_meet(struct walk *walk, struct mem *mem, const struct native_frame *frame)
{
	if (ruby_has_code_at(walk->ruby, frame->address)) {
		ruby_meet(walk, frame->address);
		return true;
	}
	return python_put_activation(walk, mem, frame->sp, frame->cfa, frame->is_exact);
}

/* Python's places first: they are filled where native frames stand, which Ruby's move. */
void interpreters_end_walk(struct walk *walk, struct mem *mem)
{
	python_end_walk(walk, mem);
	ruby_end_walk(walk, mem);
}
