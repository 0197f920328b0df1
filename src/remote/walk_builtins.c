/*
 * walk_builtins - C functions that Python code has called, by the names that Python has for
 * them.
 *
 * They have no Python frame. The called object is on its caller's value stack
 * (walk/python_builtin.h), and its C function is among the native frames that the caller's eval
 * loop has called.
 */
#include <string.h>

#include "base/memory.h"
#include "remote/walk.h"
#include "remote/walk_internal.h"
#include "walk/native.h"
#include "walk/python_builtin.h"

/* Native frames to look at: helpers of calls are between the loop and the function. */
#define NEAR_FRAMES 6

struct search {
	uint64_t begins[NEAR_FRAMES]; /* function entries, from the loop inwards; 0: unknown */
	size_t count;
	size_t best; /* index of the one found; count: none */
	struct python_builtin found;
	bool is_doubtful; /* two different objects match it */
};

static uint64_t function_of(struct walk *walk, uint64_t address)
{
	const struct remote_image *image = remote_images_find(&walk->remote->images, address);
	struct eh_lookup found;

	return image != NULL && eh_lookup_find(&found, walk->mem, &image->native, address) ==
					WALK_COMPLETE
		       ? found.fde.begin
		       : 0;
}

/* loop: index of the eval loop's frame. */
static void search_begin(struct walk *walk, size_t loop, struct search *search)
{
	const struct stack_frame *frames = walk->stack->frames;

	*search = (struct search){ 0 };
	while (loop-- > 0 && frames[loop].kind == STACK_NATIVE && search->count < NEAR_FRAMES)
		search->begins[search->count++] = function_of(walk, frames[loop].address);
	search->best = search->count;
}

/* Tries one object of the caller's value stack, from its top. */
static void look_at(struct walk *walk, struct search *search, uint64_t object)
{
	struct python_builtin builtin;

	if (python_builtin_read(walk->mem, walk->python.layout, object, &builtin) < 0)
		return;
	for (size_t i = 0; i < search->count && i <= search->best; i++) {
		if (search->begins[i] != builtin.function)
			continue;
		/* Above the top, which may be unknown, there can be stale objects. */
		search->is_doubtful = i == search->best &&
				      (search->is_doubtful ||
				       memcmp(&builtin, &search->found, sizeof builtin) != 0);
		if (i < search->best)
			search->found = builtin;
		search->best = i;
	}
}

static bool find(struct walk *walk, size_t loop, struct search *search)
{
	const struct python_layout *layout = walk->python.layout;
	const struct stack_frame *caller = &walk->stack->frames[loop + 1];
	const struct python_frame frame = { .address = caller->object, .code = caller->code };
	const bool is_top_known = layout->offsets.frame_stack != PYTHON_NO_FIELD;
	struct python_slots slots;

	search_begin(walk, loop, search);
	if (search->count == 0 || python_slots_of(walk->mem, layout, &frame, &slots) < 0)
		return false;
	for (uint32_t i = 0; i < PYTHON_SLOTS_MAX && slots.end > slots.begin; i++) {
		uint64_t slot;

		slots.end -= sizeof slot;
		if (mem_read(walk->mem, &slot, sizeof slot, slots.end) < 0)
			return false;
		slot = python_slot_object(slot);
		if (slot != 0)
			look_at(walk, search, slot);
	}
	return search->best < search->count && (is_top_known || !search->is_doubtful);
}

/* Inserts it between the loop's frame and what the loop has called. */
static bool insert(struct walk *walk, size_t loop, const struct python_builtin *builtin)
{
	struct remote_stack *stack = walk->stack;
	struct stack_frame frame = { .kind = STACK_PYTHON_C };
	struct name_text name, qualified = { 0 };

	python_builtin_texts(walk->mem, walk->python.layout, builtin, &name, &qualified);
	frame.name = remote_keep_name(walk->remote, qualified.length > 0 ? &qualified : &name);
	if (!stack_push(stack, &frame))
		return false;
	memmove(stack->frames + loop + 1, stack->frames + loop,
		(stack->count - 1 - loop) * sizeof frame);
	stack->frames[loop] = frame;
	return true;
}

void walk_builtins(struct walk *walk)
{
	const struct remote_stack *stack = walk->stack;
	struct search search;

	if (!walk->has_python || !walk->is_resting)
		return;
	for (size_t i = 2; i < stack->count && !stack->is_full; i++) {
		const struct stack_frame *loop = &stack->frames[i - 1];

		if (stack->frames[i].kind != STACK_PYTHON || loop->kind != STACK_NATIVE ||
		    !code_ranges_have(walk->python.layout->loop, loop->address))
			continue;
		if (find(walk, i - 1, &search) && insert(walk, i - 1, &search.found))
			i++;
	}
}
