#include "agent/interpreters/layouts.h"

#include "abi/ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/interpreters/layout_check.h"

enum state {
	NOT_THERE, /* no layout so far, or its image is not loaded */
	BEING_LOOKED_AT,
	SOUND,
	REFUSED,
};

/* image, program: while the layout is checked; static, since a handler's stack may be small. */
static struct {
	u32 state;
	struct python_layout layout;
	struct image_parts image, program;
} python;

static struct {
	u32 state;
	struct ruby_layout layout;
	struct image_parts image, program;
} ruby;

typedef bool find_parts(u64 address, struct image_parts *out_image);

/* A variable at an offset from the thread pointer can be read in all threads if in this one. */
static bool is_readable(const struct tls_variable *variable)
{
	return variable->means != TLS_STATIC ||
	       !__atomic_load_n(&permits.may_call, __ATOMIC_RELAXED) ||
	       memory_probe(arch_thread_pointer() + variable->place);
}

static bool must_look(u32 *state, const u32 *is_there)
{
	u32 expected = NOT_THERE;

	/* Pairs with the release in the recorder: the layout is whole when this is seen. */
	return __atomic_load_n(state, __ATOMIC_RELAXED) == NOT_THERE &&
	       __atomic_load_n(is_there, __ATOMIC_ACQUIRE) == 1 &&
	       __atomic_compare_exchange_n(state, &expected, BEING_LOOKED_AT, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void look_at_python(struct ring_header *ring, find_parts *find)
{
	u32 found = NOT_THERE;

	python.layout = ring->python;
	if (find(python.layout.loop[0].start, &python.image)) {
		image_parts_of_program(&python.program);
		found = layout_is_sound_python(&python.layout, &python.image,
					       &python.program) &&
					is_readable(&python.layout.state)
				? SOUND
				: REFUSED;
	}
	/* By this count the report says that the layout does not fit. */
	if (found == REFUSED)
		__atomic_fetch_add(&ring->python_refusals, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&python.state, found, __ATOMIC_RELEASE);
}

static void look_at_ruby(struct ring_header *ring, find_parts *find)
{
	u32 found = NOT_THERE;

	ruby.layout = ring->ruby;
	if (find(ruby.layout.loop[0].start, &ruby.image)) {
		image_parts_of_program(&ruby.program);
		found = layout_is_sound_ruby(&ruby.layout, &ruby.image, &ruby.program) &&
					is_readable(&ruby.layout.context)
				? SOUND
				: REFUSED;
	}
	if (found == REFUSED)
		__atomic_fetch_add(&ring->ruby_refusals, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ruby.state, found, __ATOMIC_RELEASE);
}

static const struct python_layout *python_by(struct ring_header *ring, find_parts *find)
{
	if (must_look(&python.state, &ring->has_python))
		look_at_python(ring, find);
	/* Pairs with the release above: the copy is whole. */
	return __atomic_load_n(&python.state, __ATOMIC_ACQUIRE) == SOUND ? &python.layout
									 : NULL;
}

static const struct ruby_layout *ruby_by(struct ring_header *ring, find_parts *find)
{
	if (must_look(&ruby.state, &ring->has_ruby))
		look_at_ruby(ring, find);
	return __atomic_load_n(&ruby.state, __ATOMIC_ACQUIRE) == SOUND ? &ruby.layout : NULL;
}

const struct python_layout *layouts_python(struct ring_header *ring)
{
	return python_by(ring, image_parts_find);
}

const struct ruby_layout *layouts_ruby(struct ring_header *ring)
{
	return ruby_by(ring, image_parts_find);
}

const struct python_layout *layouts_python_outside(struct ring_header *ring)
{
	return python_by(ring, image_parts_find_listed);
}

const struct ruby_layout *layouts_ruby_outside(struct ring_header *ring)
{
	return ruby_by(ring, image_parts_find_listed);
}

AGENT_START void layouts_forget(void)
{
	if (python.state != NOT_THERE)
		python.state = NOT_THERE;
	if (ruby.state != NOT_THERE)
		ruby.state = NOT_THERE;
}
