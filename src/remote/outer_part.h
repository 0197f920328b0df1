/*
 * outer_part - checks the part of a stack beyond its copy, which was read later from the
 * running process and may belong to other calls by then.
 *
 * Unwinding does not notice this: stale return addresses lead to an end as well. Both checks
 * below are needed.
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
 * Whether the return addresses at the outer end of the copy are still in the process's memory:
 * a thread that has returned further since has overwritten them, as a rule. If the last frame
 * is larger than the part compared, only the return address at its inner end is. Copies are
 * short where the kernel met a page of the stack that was never written to.
 */
bool outer_part_has_seam(const struct outer_part *part, const struct remote_stack *stack);
/*
 * Whether each call further out calls the function that is its callee on the stack, as far as
 * known, or one that ends in a jump to that function.
 */
bool outer_part_leads_inwards(const struct outer_part *part, const struct remote_stack *stack);
