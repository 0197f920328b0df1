/*
 * ruby_memory_walked - all that is read of a thread in one walk, for memory that is damaged.
 */
#pragma once
#include "ruby_memory_image.h"

#define WALKED_FRAMES 16

/* What a vantage asks of each frame; of damaged memory any answer is right, so they are added. */
static inline uint64_t walk_frame(struct mem *mem, const struct ruby_layout *layout,
				  const struct ruby_frame *frame)
{
	struct name_text name, qualified, file;
	struct ruby_leaves leaves;
	const struct ruby_leaf *leaf;
	struct ruby_code code;
	uint64_t sum = 0;

	if (ruby_code_read(mem, layout, frame, &code) >= 0) {
		sum += ruby_code_key(mem, layout, &code);
		ruby_code_texts(mem, layout, &code, &name, &qualified, &file);
	}
	if (frame->kind != RUBY_FRAME_ISEQ)
		return sum;
	ruby_leaves_read(mem, layout, frame, &leaves);
	leaf = ruby_leaves_choose(layout, &leaves, INSTRUCTION(3));
	sum += ruby_line_of(mem, layout, frame, leaf->stands_at);
	if (ruby_code_of_leaf(mem, layout, leaf, &code) >= 0) {
		sum += ruby_code_key(mem, layout, &code);
		ruby_code_texts(mem, layout, &code, &name, &qualified, &file);
	}
	return sum;
}

/* Returns how many frames there were; what they are is added to *sum. */
static inline unsigned walk_all(struct mem *mem, const struct ruby_layout *layout,
				volatile uint64_t *sum)
{
	struct ruby_walk walk;
	struct ruby_frame frame;
	unsigned count = 0;

	if (!ruby_is_context(mem, layout, CONTEXT, PTHREAD) ||
	    ruby_begin(mem, layout, CONTEXT, &walk) < 0)
		return 0;
	while (count < WALKED_FRAMES && ruby_next(mem, &walk, &frame) == RUBY_FRAME) {
		*sum += walk_frame(mem, layout, &frame);
		count++;
	}
	return count;
}
