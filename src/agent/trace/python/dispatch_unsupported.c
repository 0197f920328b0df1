/*
 * For processors without dispatch hooks: 3.11 has its profile function, later ones sys.monitoring.
 */
#include "agent/trace/python/dispatch.h"

bool trace_dispatch_begin_3_11(const struct python_layout *layout)
{
	(void)layout;
	return false;
}

void trace_dispatch_begin(const struct python_layout *layout)
{
	(void)layout;
}

bool trace_dispatch_set_up(void)
{
	return false;
}

bool trace_dispatch_is_on(void)
{
	return false;
}

bool trace_dispatch_is_called(u64 frame)
{
	(void)frame;
	return true;
}

void trace_dispatch_enter(struct call_stack *calls, u64 code)
{
	(void)calls;
	(void)code;
}

void trace_dispatch_leave(struct call_stack *calls)
{
	(void)calls;
}
