/* Where there are no stubs for the processor, 3.11 is traced by its profile function. */
#include "agent/trace/python/frames.h"

bool trace_frames_begin(const struct python_layout *layout, void (*fall_back)(void))
{
	(void)fall_back;
	(void)layout;
	return false;
}

bool trace_frames_is_on(void)
{
	return false;
}

bool trace_frames_is_called(u64 frame)
{
	(void)frame;
	return true;
}
