/* Where there are no dispatch hooks for the processor, 3.11 is traced by its profile function. */
#include "agent/trace/python/dispatch_3_11.h"

bool trace_dispatch_3_11_begin(const struct python_layout *layout, void (*fall_back)(void))
{
	(void)fall_back;
	(void)layout;
	return false;
}

bool trace_dispatch_3_11_is_on(void)
{
	return false;
}

bool trace_dispatch_3_11_is_called(u64 frame)
{
	(void)frame;
	return true;
}
