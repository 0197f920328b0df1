/*
 * sent_codes - codes as an agent sends them, and what a recording then says of its frames.
 */
#pragma once
#include "scene.h"

#include "record/reader.h"

#define PYTHON          (1U << RECORDING_LANGUAGE_PYTHON)
#define RUBY            (1U << RECORDING_LANGUAGE_RUBY)
#define KEY(n)          (RING_INTERPRETED | (u64)(n) << RING_INSTRUCTION_BITS)
#define IN(n, position) (KEY(n) | (position))

struct made_code {
	u64 key;
	u8 kind, table;
	u32 first_line;
	const char *name, *qualified_name, *file, *lines;
};

void put_code(struct ring_header *ring, const struct made_code *code);

/* What is in a recording, as tables by id. */
struct content {
	struct recording_stack stacks[64];
	struct recording_frame frames[64];
	enum module_kind kinds[8];
	char module_paths[8][32];
	char codes[32][64], paths[32][32]; /* of codes: "A.run", or the name if that is all */
	uint32_t languages[32], first_lines[32], code_count;
	uint32_t samples[16], endings[16], sample_count;
};

struct content read_content(struct scene *scene);
/* "0x50 < A.run:31 < 0x100": the sample's frames, callers behind. */
void assert_sample(const struct content *content, uint32_t sample, const char *due);
/* The path of the module that its frames are in. */
const char *module_of_code(const struct content *content, uint32_t code);
