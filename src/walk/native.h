/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * native - walks native frames by the unwind rules of .eh_frame; code need not keep frame
 * pointers.
 *
 * This is not a loop.  The code that includes it finds the image of an address, caches rules,
 * counts the steps and bounds the stack.  One step is
 *
 *	lookup = is_exact ? regs.ip : regs.ip - 1;
 *	status = native_rule_find(mem, image, lookup, &rule);    (or from the cache)
 *	status = native_step(mem, rule, &regs, &step);
 *	is_exact = step.is_exact;
 *
 * In the innermost frame a rule may depend on a register that no callee preserves; the including
 * code then puts its value into regs.lr before the first step:
 *
 *	leaf = native_rule_leaf_register(rule);    (a DWARF number, or NATIVE_NO_REGISTER)
 *
 * Without that the step returns WALK_BAD_RULE.  On aarch64 regs.lr begins as x30.
 *
 * The caller of the innermost frame may have its CFA in such a register, too, if the innermost
 * frame preserved it (OpenSSL's AES-GCM: rax).  A step based on that, and a step by a rule for
 * which native_rule_is_guess(), are accepted only if native_follows_call() of the new ip.
 *
 * For a rule for which native_rule_is_eh_return(), call native_step_eh_return() instead.
 *
 * If there is no rule (WALK_NO_RULE), or no image (generated code), the including code may try
 * native_step_frame_pointer(), and then checks that the new ip is in a mapping; without an image,
 * native_step_made_code() first.
 *
 * A return address may already belong to the next line, or even to the next function, so
 * callers are looked up one byte before it.  The innermost frame, and one that a signal
 * interrupted, are exact and are not moved.
 *
 * The includer defines, before or after,
 *
 *	struct mem;
 *	static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr);
 *
 * which copies len bytes at addr of the target into dst and returns 0, or is negative if
 * it cannot.  The walker accesses the target only by it.  No libc, no allocation, every
 * loop has a constant bound; for kernels it compiles with `clang -target bpf` too.
 *
 * The processor is the one compiled for, unless NATIVE_X86_64 or NATIVE_AARCH64 is defined.
 */
#pragma once
#include "abi/types.h"
#include "abi/walk_status.h"

#if defined(NATIVE_AARCH64) || (defined(__aarch64__) && !defined(NATIVE_X86_64))
#include "native_aarch64.h"
#else
#include "native_x86_64.h"
#include "native_x86_64_code.h"
#include "native_x86_64_eh_return.h"
#endif
#include "eh_frame_search.h"

/* Working memory to find a rule: half a kilobyte, too much for the stack of a BPF program. */
struct native_scratch {
	struct eh_lookup found;
	struct cfa_program program;
};

/* The rule from the FDE in scratch; 0 if it is damaged or not supported. */
static inline u64 native_rule_of_found(struct native_scratch *scratch, u64 lookup)
{
	struct eh_lookup *found = &scratch->found;

	if (found->cie.ra_register != CFA_RA_REGISTER ||
	    eh_lookup_row(found, &scratch->program, lookup) < 0)
		return 0;
	u64 rule = native_rule_pack(&scratch->program.row, found->cie.is_signal_frame);

	return scratch->program.eh_data == CFA_EH_DATA ? native_rule_mark_eh_return(rule)
						       : rule;
}

/* The rule of an address that no FDE covers; 0 if there is none. */
static inline u64 native_rule_by_code(struct native_scratch *scratch, struct mem *mem,
				      const struct native_image *image, u64 lookup)
{
	u64 next = native_code_skip_padding(mem, lookup);

	if (native_is_stack_bottom(mem, lookup + 1))
		return native_stack_bottom_rule();
	if (next != lookup &&
	    eh_lookup_find(&scratch->found, mem, image, next) == WALK_COMPLETE &&
	    scratch->found.fde.begin == next)
		return native_rule_of_found(scratch, next);
	return native_code_rule(mem, lookup);
}

/* native_rule_find() with working memory from the caller, of any content. */
static inline enum walk_status native_rule_find_in(struct native_scratch *scratch,
						   struct mem *mem,
						   const struct native_image *image, u64 lookup,
						   u64 *out_rule)
{
	enum walk_status status;
	u64 rule;

	if (lookup < image->start || lookup >= image->end)
		return WALK_NO_MODULE;
	status = eh_lookup_find(&scratch->found, mem, image, lookup);
	if (status == WALK_COMPLETE) {
		status = WALK_BAD_RULE;
		/*
		 * A function may end right before code that is the bottom of a stack the program
		 * made.
		 */
		rule = scratch->found.fde.end == lookup + 1 &&
				       native_is_stack_bottom(mem, lookup + 1)
			       ? native_stack_bottom_rule()
			       : native_rule_of_found(scratch, lookup);
	} else if (status == WALK_NO_RULE) {
		rule = native_rule_by_code(scratch, mem, image, lookup);
	} else {
		return status;
	}
	if (rule == 0)
		return status;
	*out_rule = rule;
	return WALK_COMPLETE;
}

/*
 * Finds the rule for address `lookup` of `image`.  WALK_COMPLETE, or why there is none:
 * WALK_NO_MODULE (not in the image), WALK_NO_RULE, WALK_BAD_RULE (damaged or not supported),
 * WALK_UNREADABLE.
 *
 * *out_rule is never 0, and depends on lookup only through the row: a process has some hundreds
 * of distinct rules.
 */
static inline enum walk_status
native_rule_find(struct mem *mem, const struct native_image *image, u64 lookup, u64 *out_rule)
{
	struct native_scratch scratch;

	return native_rule_find_in(&scratch, mem, image, lookup, out_rule);
}
