/*
 * compile_ruby - the walker of Ruby frames as its users compile it: for kernels, and for other
 * processors.
 */
#include "walk/ruby.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"
#include "compile_memory.h"

int compile_begin(struct mem *mem, const struct ruby_layout *layout, u64 context, u64 thread,
		  struct ruby_walk *walk);
enum ruby_step compile_next(struct mem *mem, struct ruby_walk *walk, struct ruby_frame *frame);
u32 compile_line(struct mem *mem, const struct ruby_layout *layout,
		 const struct ruby_frame *frame);
u64 compile_key(struct mem *mem, const struct ruby_layout *layout,
		const struct ruby_frame *frame);
u64 compile_leaf(struct mem *mem, const struct ruby_layout *layout,
		 const struct ruby_frame *frame, u64 core_address);
void compile_texts(struct mem *mem, const struct ruby_layout *layout,
		   const struct ruby_code *code, struct name_text *out_texts);

int compile_begin(struct mem *mem, const struct ruby_layout *layout, u64 context, u64 thread,
		  struct ruby_walk *walk)
{
	if (!ruby_is_context(mem, layout, context, thread))
		return -1;
	return ruby_begin(mem, layout, context, walk);
}

enum ruby_step compile_next(struct mem *mem, struct ruby_walk *walk, struct ruby_frame *frame)
{
	return ruby_next(mem, walk, frame);
}

u32 compile_line(struct mem *mem, const struct ruby_layout *layout,
		 const struct ruby_frame *frame)
{
	return ruby_line_of(mem, layout, frame, 0);
}

u64 compile_key(struct mem *mem, const struct ruby_layout *layout,
		const struct ruby_frame *frame)
{
	struct ruby_code code;

	if (ruby_code_read(mem, layout, frame, &code) < 0)
		return 0;
	return ruby_code_key(mem, layout, &code);
}

u64 compile_leaf(struct mem *mem, const struct ruby_layout *layout,
		 const struct ruby_frame *frame, u64 core_address)
{
	struct ruby_leaves leaves;
	struct ruby_code code;

	ruby_leaves_read(mem, layout, frame, &leaves);
	if (ruby_code_of_leaf(mem, layout, ruby_leaves_choose(layout, &leaves, core_address),
			      &code) < 0)
		return 0;
	return ruby_code_key(mem, layout, &code);
}

void compile_texts(struct mem *mem, const struct ruby_layout *layout,
		   const struct ruby_code *code, struct name_text *out_texts)
{
	ruby_code_texts(mem, layout, code, &out_texts[0], &out_texts[1], &out_texts[2]);
}
