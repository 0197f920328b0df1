/*
 * compile_native - the walker as its users compile it: for kernels, and for other processors.
 */
#include "walk/native.h"
#include "compile_memory.h"

enum walk_status compile_find(struct native_scratch *scratch, struct mem *mem,
			      const struct native_image *image, u64 lookup, u64 *out_rule);
enum walk_status compile_step(struct mem *mem, u64 rule, struct native_regs *regs,
			      struct native_step *out_step);
enum walk_status compile_step_frame_pointer(struct mem *mem, struct native_regs *regs);
enum walk_status compile_step_made_code(struct mem *mem, int is_exact, int may_be_java,
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

enum walk_status compile_step_made_code(struct mem *mem, int is_exact, int may_be_java,
					struct native_regs *regs)
{
	return native_step_made_code(mem, is_exact, may_be_java, regs);
}
