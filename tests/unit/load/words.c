#include "words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "by_hand.h"
#include "record/writer.h"

/* What by_hand_name_frame() cannot say: which module a function is in. */
static void name_frame(struct words *words, uint32_t frame, uint32_t module, const char *name)
{
	uint32_t id = 0;

	recording_writer_add_function(
		words->writer, &(struct recording_function){ .module = module, .name = name },
		&id);
	assert_int_equal(recording_writer_add_location(
				 words->writer, &(struct recording_location){ .frame = frame,
									      .function = id }),
			 0);
}

void words_begin(struct words *words, const char *file)
{
	*words = (struct words){ .writer = by_hand_create(file),
				 .language = RECORDING_LANGUAGE_PYTHON };
	by_hand_add_thread(words->writer);
	words->interpreted[RECORDING_LANGUAGE_PYTHON] =
		by_hand_add_module(words->writer, MODULE_KIND_INTERPRETED, "[python]");
	words->interpreted[RECORDING_LANGUAGE_RUBY] =
		by_hand_add_module(words->writer, MODULE_KIND_INTERPRETED, "[ruby]");
}

void words_add_module(struct words *words, const char *name, const char *path)
{
	words->modules[words->module_count].name = name;
	words->modules[words->module_count++].id = by_hand_add_module(
		words->writer, path ? MODULE_KIND_ELF : MODULE_KIND_JIT, path);
}

static uint32_t module_of(const struct words *words, const char *name, size_t len)
{
	for (size_t i = 0; i < words->module_count; i++)
		if (strlen(words->modules[i].name) == len &&
		    memcmp(words->modules[i].name, name, len) == 0)
			return words->modules[i].id;
	fail_msg("no module %.*s", (int)len, name);
	return 0;
}

void words_add_code(struct words *words, const char *name, const char *qualified,
		    const char *file, uint32_t line)
{
	words->codes[words->code_count].name = name;
	words->codes[words->code_count].module = words->interpreted[words->language];
	words->codes[words->code_count++].id =
		by_hand_add_code(words->writer, words->language, name, qualified, file, line);
}

static struct recording_frame place_of(const struct words *words, const char *name, size_t len,
				       uint64_t line)
{
	for (size_t i = 0; i < words->code_count; i++)
		if (strlen(words->codes[i].name) == len &&
		    memcmp(words->codes[i].name, name, len) == 0)
			return (struct recording_frame){
				.module = words->codes[i].module,
				.address = (uint64_t)words->codes[i].id << 32 | line,
			};
	fail_msg("no code %.*s", (int)len, name);
	return (struct recording_frame){ 0 };
}

static uint32_t add_native(struct words *words, uint32_t parent, const char *word)
{
	size_t len = strcspn(word, ":");
	uint32_t module = module_of(words, word, len), frame = 0, stack = 0;
	uint64_t address = 0;

	/* The same name is the same address. */
	for (const char *at = word + len; *at; at++)
		address = address * 31 + (unsigned char)*at;
	address &= 0xffffff;
	recording_writer_add_frame(
		words->writer,
		&(struct recording_frame){ .module = module, .address = address }, &frame);
	if (frame > words->frame_count) {
		words->frame_count = frame;
		name_frame(words, frame, module, word + len + 1);
	}
	recording_writer_add_stack(
		words->writer, &(struct recording_stack){ .parent = parent, .frame = frame },
		&stack);
	return stack;
}

static uint32_t add_interpreted(struct words *words, uint32_t parent, const char *word)
{
	size_t len = strcspn(word, ":");
	uint64_t line = word[len] ? strtoul(word + len + 1, NULL, 10) : 0;
	const struct recording_frame place = place_of(words, word, len, line);
	uint32_t frame = 0, stack = 0;

	recording_writer_add_frame(words->writer, &place, &frame);
	words->frame_count = frame > words->frame_count ? frame : words->frame_count;
	recording_writer_add_stack(
		words->writer, &(struct recording_stack){ .parent = parent, .frame = frame },
		&stack);
	return stack;
}

static uint32_t add_stack(struct words *words, const char *stack)
{
	CLEANUP(freep) char *copy = xstrdup(stack);
	char *rest = copy;
	uint32_t row = 0;

	for (char *word; (word = strsep(&rest, " "));)
		row = *word == '@' ? add_interpreted(words, row, word + 1)
				   : add_native(words, row, word);
	return row;
}

void words_add(struct words *words, const char *stack, int count)
{
	by_hand_add_samples(words->writer, add_stack(words, stack), count, 1000);
}

void words_add_calls(struct words *words, const char *stack, uint64_t calls)
{
	const struct recording_calls row = { .thread = 1,
					     .stack = add_stack(words, stack),
					     .calls = calls,
					     .self_ns = 1000,
					     .shortest_ns = RECORDING_UNKNOWN,
					     .longest_ns = RECORDING_UNKNOWN };
	uint32_t id = 0;

	assert_int_equal(recording_writer_add_calls(words->writer, &row, &id), 0);
}

void words_add_interpreter(struct words *words, const char *module, const char *version,
			   const char *why_not)
{
	by_hand_add_interpreter(words->writer, words->language, words_module(words, module),
				version, why_not);
}

uint32_t words_module(const struct words *words, const char *name)
{
	return module_of(words, name, strlen(name));
}
