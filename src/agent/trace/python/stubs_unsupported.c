/* Where there are no stubs for the processor, 3.12 and later are traced by sys.monitoring. */
#include "agent/trace/python/stubs.h"

void trace_stubs_begin(const struct python_layout *layout)
{
	(void)layout;
}

bool trace_stubs_set_up(void)
{
	return false;
}

void trace_stubs_calibrate(void)
{
}

bool trace_stubs_is_on(void)
{
	return false;
}

bool trace_stubs_is_called(u64 frame)
{
	(void)frame;
	return true;
}

void trace_stubs_enter(struct tracer *tracer, u64 code)
{
	(void)tracer;
	(void)code;
}

void trace_stubs_leave(struct tracer *tracer)
{
	(void)tracer;
}
