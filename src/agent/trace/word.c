#include "agent/trace/word.h"

#include "agent/core/image_parts.h"

bool trace_put_word(void **place, void *word)
{
	const u64 at = (u64)place;
	struct image_parts image;

	if (at % sizeof word != 0 || !image_parts_find_listed(at, &image) ||
	    !image_parts_have(&image, at, at + sizeof word, PF_W))
		return false;
	__atomic_store_n(place, word, __ATOMIC_RELEASE);
	return true;
}
