/*
 * compile_python - the walker of Python frames as its users compile it: for kernels, and for
 * other processors.
 */
#include "walk/python.h"
#include "walk/python_builtin.h"
#include "walk/python_code.h"
#include "walk/python_thread.h"
#include "compile_memory.h"

int compile_begin(struct mem *mem, const struct python_layout *layout, u64 state, u64 thread,
		  struct python_walk *walk);
enum python_step compile_enter(struct mem *mem, struct python_walk *walk, u64 sp, u64 cfa);
enum python_step compile_next(struct mem *mem, struct python_walk *walk,
			      struct python_frame *frame);
enum python_step compile_object(struct mem *mem, struct python_walk *walk,
				struct python_frame *frame);
int compile_pass(struct mem *mem, struct python_walk *walk);
u64 compile_key(struct mem *mem, const struct python_layout *layout, u64 code);
int compile_text(struct mem *mem, const struct python_layout *layout, u64 text,
		 struct name_text *out_text);
int compile_thread_name(struct mem *mem, const struct python_layout *layout,
			const struct python_frame *outermost, struct name_text *out_name);
int compile_builtin(struct mem *mem, const struct python_layout *layout, u64 object,
		    struct name_text *out_texts);

int compile_begin(struct mem *mem, const struct python_layout *layout, u64 state, u64 thread,
		  struct python_walk *walk)
{
	if (!python_is_state(mem, layout, state, thread))
		return -1;
	return python_begin(mem, layout, state, 0, walk);
}

enum python_step compile_enter(struct mem *mem, struct python_walk *walk, u64 sp, u64 cfa)
{
	return python_enter(mem, walk, sp, cfa);
}

enum python_step compile_next(struct mem *mem, struct python_walk *walk,
			      struct python_frame *frame)
{
	return python_next(mem, walk, frame);
}

enum python_step compile_object(struct mem *mem, struct python_walk *walk,
				struct python_frame *frame)
{
	return python_object_next(mem, walk, frame);
}

int compile_pass(struct mem *mem, struct python_walk *walk)
{
	return python_pass(mem, walk) < 0 ? -1 : python_is_over(walk);
}

u64 compile_key(struct mem *mem, const struct python_layout *layout, u64 code)
{
	struct python_code parts;

	if (python_code_read(mem, layout, code, &parts) < 0)
		return 0;
	return python_code_key(mem, layout, code, &parts);
}

int compile_text(struct mem *mem, const struct python_layout *layout, u64 text,
		 struct name_text *out_text)
{
	return python_text_read(mem, layout, text, out_text);
}

int compile_builtin(struct mem *mem, const struct python_layout *layout, u64 object,
		    struct name_text *out_texts)
{
	struct python_builtin builtin;

	if (python_builtin_read(mem, layout, object, &builtin) < 0)
		return -1;
	python_builtin_texts(mem, layout, &builtin, &out_texts[0], &out_texts[1]);
	return python_builtin_key(mem, layout, &builtin) != 0;
}

int compile_thread_name(struct mem *mem, const struct python_layout *layout,
			const struct python_frame *outermost, struct name_text *out_name)
{
	return python_thread_name(mem, layout, outermost, out_name);
}
