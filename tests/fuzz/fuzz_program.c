/*
 * The input is a file that is to be executed.  Whatever it is, it is judged by a bounded number
 * of reads, and what must come before the agent is a text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/program.h"

struct program_file {
	const uint8_t *bytes;
	size_t len;
	size_t reads;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline enum program_kind program_open(struct program_file *file, const char *path,
					     struct program_status *out_status)
{
	if (strlen(path) >= PROGRAM_HEAD_SIZE)
		abort();
	*out_status = (struct program_status){ .mode = 0755 };
	/* A script whose interpreter is the same script. */
	return file->len > 2 ? PROGRAM_ENTERABLE : PROGRAM_MISSING;
}

static inline long program_read(struct program_file *file, void *dst, u32 len, u64 offset)
{
	file->reads++;
	if (offset >= file->len)
		return 0;
	if (len > file->len - offset)
		len = (u32)(file->len - offset);
	memcpy(dst, file->bytes + offset, len);
	return len;
}

static inline long program_read_capabilities(struct program_file *file, void *dst, u32 len)
{
	return program_read(file, dst, len, 0);
}

static inline bool program_may_gain(struct program_file *file)
{
	return file->len % 2 == 0;
}

static inline bool program_is_our_loader(struct program_file *file, const char *path)
{
	return path == NULL ? file->len % 3 == 0 : strlen(path) < PROGRAM_HEAD_SIZE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own, so that a sanitizer sees a read one byte too far. */
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	struct program_file file = { .bytes = bytes, .len = size };
	const struct program_question question = { .ids = { .ruid = (u32)(size % 5) },
						   .first_argument = "x" };
	struct program_answer answer;

	memcpy(bytes, data, size);
	program_judge(&file, (struct program_status){ .mode = 04755 }, &question, &answer);
	if ((unsigned)answer.kind >= PROGRAM_KIND_COUNT ||
	    strnlen(answer.first_libraries, PROGRAM_LIBRARIES_SIZE) == PROGRAM_LIBRARIES_SIZE ||
	    answer.levels > PROGRAM_LEVELS_MAX + 1)
		abort();
	/* Segments, dynamic section, notes, symbols and texts, of six files at most. */
	if (file.reads > 6 * 20000)
		abort();
	free(bytes);
	return 0;
}
