#include "agent/interpreters/python/state.h"

#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/tls.h"
#include "walk/python.h"

/* The most interpreters, and threads of one, that are looked through. */
#define MOST_INTERPRETERS 64U
#define MOST_THREADS      4096U

/*
 * The state of this thread among those of one interpreter; 0: none.  2.7 makes the state of a new
 * thread in the one that creates it, with that one's id: so one that has frames goes first.
 */
static u64 state_in(struct mem *mem, const struct python_layout *layout, u64 interpreter)
{
	u64 state, frame, found = 0;

	if (python_read(mem, &state, interpreter, layout->offsets.interp_threads) < 0)
		return 0;
	for (u32 i = 0; i < MOST_THREADS && state != 0; i++) {
		if (python_is_state(mem, layout, state, arch_thread_pointer())) {
			found = state;
			if (layout->offsets.state_frame == PYTHON_NO_FIELD ||
			    python_read(mem, &frame, state, layout->offsets.state_frame) < 0 ||
			    frame != 0)
				return found;
		}
		if (python_read(mem, &state, state, layout->offsets.state_next) < 0)
			return found;
	}
	return found;
}

static u64 first_interpreter(const struct python_layout *layout)
{
	/* Returns the value of a variable, in every version. */
	void *(*const head)(void) = (void *(*)(void))layout->head_function;

	return layout->head_function != 0 ? (u64)head() : 0;
}

u64 python_list_state(struct mem *mem, const struct python_layout *layout, u32 index)
{
	u64 interpreter = first_interpreter(layout);

	for (u32 i = 0; i < MOST_INTERPRETERS && interpreter != 0; i++) {
		const u64 state = state_in(mem, layout, interpreter);

		if (state != 0 && index-- == 0)
			return state;
		if (python_read(mem, &interpreter, interpreter, layout->offsets.interp_next) <
		    0)
			return 0;
	}
	return 0;
}

bool python_has_interpreters(struct mem *mem, const struct python_layout *layout)
{
	const u64 interpreter = first_interpreter(layout);
	u64 next;

	return interpreter != 0 &&
	       python_read(mem, &next, interpreter, layout->offsets.interp_next) >= 0 &&
	       next != 0;
}

u64 python_find_state(struct mem *mem, const struct python_layout *layout)
{
	void *(*const get)(void) = (void *(*)(void))layout->state_function;

	switch (layout->state_means) {
	case PYTHON_STATE_BY_CALL:
		return layout->state_function != 0 ? (u64)get() : 0;
	case PYTHON_STATE_BY_LIST:
		return python_list_state(mem, layout, 0);
	case PYTHON_STATE_BY_TLS:
		return tls_read(mem, &layout->state);
	default:
		return 0;
	}
}
