#include "agent/sample/interpreters.h"

#include "agent/interpreters/python/outer.h"
#include "agent/interpreters/ruby/state.h"

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

/* Python's places are filled first: they depend on where native frames are, which Ruby's move. */
void interpreters_end_walk(struct walk *walk, struct mem *mem)
{
	if (!python_put_outer(walk, mem))
		python_end_walk(walk, mem);
	ruby_end_walk(walk, mem);
}
