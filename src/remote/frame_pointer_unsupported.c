/* Stub for machines where unwinding never needs a search for the frame pointer. */
#include "remote/frame_pointer.h"

#if !defined(__x86_64__)
bool frame_pointer_is_needed(uint64_t rule)
{
	(void)rule;
	return false;
}

enum frame_pointer_means frame_pointer_find(struct mem *mem, uint64_t begin, uint64_t pc,
					    uint64_t sp, uint64_t *out_fp)
{
	(void)mem;
	(void)begin;
	(void)pc;
	(void)sp;
	(void)out_fp;
	return FRAME_POINTER_UNKNOWN;
}
#endif
