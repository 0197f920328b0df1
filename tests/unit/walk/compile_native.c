/*
 * compile_native - the walker as a vantage compiles it: for kernels, and for other processors.
 */
#include "walk/native.h"

struct mem {
	u64 low, high;
};

/* Stands for bpf_probe_read_user() and its like. */
static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (addr < mem->low || addr > mem->high || len > mem->high - addr)
		return -1;
	for (u32 i = 0; i < 64 && i < len; i++)
		((u8 *)dst)[i] = ((const volatile u8 *)addr)[i];
	return 0;
}

enum walk_status compile_find(struct native_scratch *scratch, struct mem *mem,
			      const struct native_image *image, u64 lookup, u64 *out_rule);
enum walk_status compile_step(struct mem *mem, u64 rule, struct native_regs *regs,
			      struct native_step *out_step);
enum walk_status compile_step_frame_pointer(struct mem *mem, struct native_regs *regs);
enum walk_status compile_step_made_code(struct mem *mem, int is_exact,
					struct native_regs *regs);

enum walk_status compile_find(struct native_scratch *scratch, struct mem *mem,
			      const struct native_image *image, u64 lookup, u64 *out_rule)
{
	return native_rule_find_in(scratch, mem, image, lookup, out_rule);
}

enum walk_status compile_step(struct mem *mem, u64 rule, struct native_regs *regs,
			      struct native_step *out_step)
{
	return native_step(mem, rule, regs, out_step);
}

enum walk_status compile_step_frame_pointer(struct mem *mem, struct native_regs *regs)
{
	return native_step_frame_pointer(mem, regs);
}

enum walk_status compile_step_made_code(struct mem *mem, int is_exact, struct native_regs *regs)
{
	return native_step_made_code(mem, is_exact, regs);
}
