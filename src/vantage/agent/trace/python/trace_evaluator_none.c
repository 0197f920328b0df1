/* Where there are no stubs for the processor, 3.8 to 3.10 are traced by a profile function. */
#include "vantage/agent/trace/python/trace_evaluator.h"

bool trace_evaluator_begin(const struct python_layout *layout)
{
	(void)layout;
	return false;
}

bool trace_evaluator_is_on(void)
{
	return false;
}

void trace_evaluator_see_state(u64 state)
{
	(void)state;
}

bool trace_evaluator_is_called(u64 frame)
{
	(void)frame;
	return true;
}
