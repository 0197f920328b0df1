/*
 * outer_part - the part of a stack that a copy does not have: it was read later, in the running
 * process, and may be another stack's by then.
 *
 * Unwinding says nothing of that: by stale return addresses it reaches an end as well.  Two checks
 * do, and both are needed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct remote;
struct remote_stack;

struct outer_part {
	struct remote *remote; /* the process, whose memory is open */
	uint64_t copy_low, copy_high;
	size_t word; /* bytes of a return address: 8 or 4 */
};

/*
 * Whether the return addresses at the end of the copy stand there still: a thread that has been
 * further out since would have written over them, as a rule.  Where the last frame is larger than
 * the seam, that is the one return address at its inner end.  A copy is short where the kernel met
 * a page of the stack that nothing was ever written to.
 */
bool outer_part_has_seam(const struct outer_part *part, const struct remote_stack *stack);
/*
 * Whether each call further out leads to the function that it is to have called, as far as known,
 * or to one that ends in a jump to it.
 */
bool outer_part_leads_inwards(const struct outer_part *part, const struct remote_stack *stack);
