#include "agent/core/walk.h"

bool walk_push(struct walk *walk, u64 frame)
{
	if (walk->count == WALK_MAX_FRAMES) {
		walk->is_full = true;
		return false;
	}
	walk->frames[walk->count++] = frame;
	return true;
}
