#include "agent/interpreters/ruby/merge.h"

/* Frames are written from the outermost inwards, over those that were read already. */
struct writer {
	const struct ruby_layout *layout;
	const struct ruby_stack *stack;
	struct ruby_natives *natives;
	u32 from;    /* one past the native word to be read next */
	u32 to;      /* one past the word to be written next */
	u32 ruby;    /* one past the Ruby word to be written next */
	bool is_one; /* all Ruby frames are taken for one activation's */
};

static u32 count_marks(const struct ruby_natives *natives)
{
	u32 count = 0;

	for (u32 i = 0; i < natives->count; i++)
		count += natives->frames[i] == RUBY_MARK;
	return count;
}

/* The first mark's index; count if there is none. */
static u32 first_mark(const struct ruby_natives *natives)
{
	u32 i = 0;

	while (i < natives->count && natives->frames[i] != RUBY_MARK)
		i++;
	return i;
}

/* Removes the first mark: the innermost activation has no frames. */
static void take_first_mark_away(struct ruby_natives *natives)
{
	for (u32 i = first_mark(natives) + 1; i < natives->count; i++)
		natives->frames[i - 1] = natives->frames[i];
	natives->count--;
}

/* Removes all marks: there are no Ruby frames. */
static void take_marks_away(struct ruby_natives *natives)
{
	const u32 count = natives->count;

	natives->count = 0;
	for (u32 i = 0; i < count; i++) {
		if (natives->frames[i] != RUBY_MARK)
			natives->frames[natives->count++] = natives->frames[i];
	}
}

/* Removes what is outside of the innermost activation. */
static void cut_at_first_mark(struct ruby_natives *natives)
{
	const u32 mark = first_mark(natives);

	if (mark == natives->room)
		natives->count--;
	else
		natives->count = mark;
	natives->frames[natives->count++] = RUBY_MARK;
}

static void put(struct writer *writer, u64 word)
{
	if (--writer->to < writer->natives->room)
		writer->natives->frames[writer->to] = word;
	else
		writer->natives->is_full = true;
}

static void put_ruby(struct writer *writer, u32 first)
{
	while (writer->ruby > first)
		put(writer, writer->stack->words[--writer->ruby]);
}

static bool is_code(const struct ruby_layout *layout, u64 address)
{
	return code_ranges_have(layout->core, address) ||
	       code_ranges_have(layout->loop, address);
}

/* The index of the first frame of the activation whose outermost frame is next. */
static u32 find_first(const struct writer *writer)
{
	const u8 *flags = writer->stack->flags;
	const u32 first = writer->stack->first;
	u32 i = writer->ruby;

	if (writer->is_one)
		return first;
	while (i > first && !(flags[i - 1] & RUBY_WORD_IS_LAST))
		i--;
	/* i is one past its last frame. */
	while (i > first + 1 && !(flags[i - 2] & RUBY_WORD_IS_LAST))
		i--;
	return i > first ? i - 1 : first;
}

/* Writes one activation's Ruby frames behind the loop's native frames, its methods in C before. */
static void put_activation(struct writer *writer)
{
	const u64 *frames = writer->natives->frames;
	const u32 first = find_first(writer);
	u32 ruby = first;

	while (ruby < writer->ruby && writer->stack->flags[ruby] & RUBY_WORD_IS_C)
		ruby++;
	put_ruby(writer, ruby);
	while (writer->from > 0 && is_code(writer->layout, frames[writer->from - 1]))
		put(writer, frames[--writer->from]);
	put_ruby(writer, first);
}

bool ruby_merge(const struct ruby_layout *layout, const struct ruby_stack *stack, bool may_fit,
		struct ruby_natives *natives)
{
	u32 marks = count_marks(natives);
	const bool fits = may_fit && !stack->is_full && stack->activations + 1 >= marks &&
			  stack->activations <= marks + 1;

	if (stack->count == stack->first) {
		take_marks_away(natives);
		return fits;
	}
	if (!fits) {
		cut_at_first_mark(natives);
		marks = 1;
	} else if (stack->activations < marks) {
		take_first_mark_away(natives);
		marks--;
	}
	struct writer writer = {
		.layout = layout,
		.stack = stack,
		.natives = natives,
		.from = natives->count,
		.to = natives->count - marks + stack->count - stack->first,
		.ruby = stack->count,
		.is_one = !fits,
	};
	const u32 total = writer.to;

	while (writer.from > 0) {
		const u64 word = natives->frames[--writer.from];

		if (word == RUBY_MARK)
			put_activation(&writer);
		else
			put(&writer, word);
	}
	put_ruby(&writer, stack->first);
	natives->count = total < natives->room ? total : natives->room;
	return fits;
}
