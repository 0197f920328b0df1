/*
 * native - walks native frames without frame pointers, by the rules of .eh_frame.
 *
 * (The body is to be written; this is the contract the vantages rely on.)
 *
 *	struct mem;  defined by the vantage, with
 *	static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr);
 *
 *	struct native_regs { u64 ip, sp, fp, bx, lr; };  bx: x86-64 rbx; lr: aarch64 x30
 *
 *	One mapped ELF image, as the vantage found it:
 *	struct native_image { u64 start, end;  u64 eh_frame_hdr, eh_frame_hdr_len;
 *			      u64 eh_frame, eh_frame_len; };  0 where unknown
 *
 *	A rule packed in a u64 ("where CFA, RA, fp, bx are"); 0 is "none".
 *
 *	Finds the rule for the address `lookup` (the caller has subtracted one from return
 *	addresses).  WALK_COMPLETE or a reason:
 *	static inline enum walk_status native_rule_find(struct mem *mem,
 *		const struct native_image *image, u64 lookup, u64 *out_rule);
 *
 *	Takes one step: regs become the caller's.  *out_is_exact says that the new ip is not a
 *	return address (the frame was a signal frame).  WALK_COMPLETE with *out_is_last set at
 *	the outermost frame:
 *	static inline enum walk_status native_step(struct mem *mem, u64 rule,
 *		struct native_regs *regs, struct native_step *out_step);
 */
#pragma once
