/*
 * ruby_memory_walked - walks in memory made by hand: the frames alone, and all that is read of
 * a thread, for memory that is damaged.
 */
#pragma once
#include "ruby_memory_image.h"

#define WALKED_FRAMES 16

/* What a walk gives, at most WALKED_FRAMES. */
struct walked {
	struct ruby_frame frames[WALKED_FRAMES];
	size_t count;
	enum ruby_step ends;
};

static inline struct walked walk(struct mem *mem, const struct ruby_layout *layout)
{
	struct walked walked = { .ends = RUBY_BROKEN };
	struct ruby_walk ruby;

	if (ruby_begin(mem, layout, CONTEXT, &ruby) < 0)
		return walked;
	while (walked.count < WALKED_FRAMES) {
		struct ruby_frame *frame = &walked.frames[walked.count];

		walked.ends = ruby_next(mem, &ruby, frame);
		if (walked.ends != RUBY_FRAME)
			break;
		walked.count++;
	}
	return walked;
}

/* What the callers of a walk ask of each frame, added: of damaged memory any answer is right. */
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
