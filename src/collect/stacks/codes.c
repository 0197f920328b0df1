/*
 * Stores the interpreted functions that agents send (codes.h).  The target can write anything
 * into a record: lengths are checked once, when it is read, and texts are treated as plain
 * bytes.
 */
#include "collect/stacks/codes.h"

#include <string.h>

#include "abi/ring.h"
#include "base/memory.h"
#include "collect/stacks/epochs.h"
#include "collect/processes/image.h"
#include "record/writer.h"
#include "target/python_lines.h"

/* By language: the module of its frames, and the name of those without a code. */
static const struct code_language {
	const char *module_path;
	const char *unknown_name;
} languages[CODES_LANGUAGES] = {
	[0] = { "[interpreted]", "[unknown function]" },
	[RECORDING_LANGUAGE_PYTHON] = { "[python]", "[unknown Python function]" },
	[RECORDING_LANGUAGE_RUBY] = { "[ruby]", "[unknown Ruby method]" },
	[RECORDING_LANGUAGE_KERNEL] = { "[kernel]", "[kernel]" },
	[RECORDING_LANGUAGE_FATHOM] = { "[fathom]", "[unknown]" },
	[RECORDING_LANGUAGE_REGION] = { "[regions]", "[unknown region]" },
};

/* By enum ring_code_kind. */
static const struct code_kind {
	uint32_t language; /* 0: there is no such kind */
	bool is_builtin;   /* it has no file, whatever is sent */
} kinds[] = {
	[RING_CODE_PYTHON] = { .language = RECORDING_LANGUAGE_PYTHON },
	[RING_CODE_PYTHON_BUILTIN] = { RECORDING_LANGUAGE_PYTHON, .is_builtin = true },
	[RING_CODE_RUBY] = { .language = RECORDING_LANGUAGE_RUBY },
	[RING_CODE_RUBY_BUILTIN] = { RECORDING_LANGUAGE_RUBY, .is_builtin = true },
	[RING_CODE_REGION] = { RECORDING_LANGUAGE_REGION, .is_builtin = true },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/*
 * Results that are kept: finding a line means reading its table from the beginning, and
 * callers, which most frames are, repeat.
 */
#define LINES_KEPT 4

struct known_line {
	uint32_t instruction; /* RING_NO_INSTRUCTION: none */
	uint32_t line;
};

struct known_code {
	uint32_t row;     /* of the recording; 0: not written yet */
	bool is_doubtful; /* different contents came with its key in one epoch */
	uint8_t kind, table;
	uint16_t name_length, qualified_length, file_length, table_length;
	uint32_t epoch, first_line;
	struct known_line lines[LINES_KEPT]; /* found last */
	uint8_t bytes[];                     /* as in the record */
};

static size_t bytes_of(const struct ring_code *head)
{
	return (size_t)head->name_length + head->qualified_length + head->file_length +
	       head->table_length;
}

/*
 * Whether a record is well-formed; it needs a name, without which it is no better than a
 * missing one.
 */
static bool is_sound(const struct ring_code *head, uint64_t count)
{
	const bool is_key =
		(head->key & ~RING_KEY_MASK) == 0 && (head->key & RING_INTERPRETED) != 0;
	const bool is_kind = head->kind < KINDS && kinds[head->kind].language != 0;
	const uint64_t room = (count - RING_WORDS(struct ring_code)) * sizeof(u64);

	return is_key && is_kind && head->table < PYTHON_TABLE_COUNT && head->name_length > 0 &&
	       bytes_of(head) <= room;
}

static bool is_same(const struct known_code *code, const struct ring_code *head,
		    const void *bytes)
{
	return code->kind == head->kind && code->table == head->table &&
	       code->first_line == head->first_line && code->name_length == head->name_length &&
	       code->qualified_length == head->qualified_length &&
	       code->file_length == head->file_length &&
	       code->table_length == head->table_length &&
	       memcmp(code->bytes, bytes, bytes_of(head)) == 0;
}

static void codes_add(struct epochs *epochs, uint32_t image_row, const struct ring_code *head,
		      const void *bytes)
{
	const size_t len = bytes_of(head);
	struct known_code *code =
		epochs_add(epochs, EPOCHS_CODE, image_row, head->key, sizeof *code + len);

	code->kind = head->kind;
	code->table = head->table;
	code->name_length = head->name_length;
	code->qualified_length = head->qualified_length;
	code->file_length = head->file_length;
	code->table_length = head->table_length;
	code->epoch = epochs->number;
	code->first_line = head->first_line;
	for (size_t i = 0; i < LINES_KEPT; i++)
		code->lines[i].instruction = RING_NO_INSTRUCTION;
	memcpy(code->bytes, bytes, len);
}

void codes_take(struct codes *codes, struct epochs *epochs, uint32_t image_row,
		const uint64_t *words, uint64_t count)
{
	const uint64_t *bytes = words + RING_WORDS(struct ring_code);
	struct ring_code head;

	if (count < RING_WORDS(struct ring_code))
		return;
	memcpy(&head, words, sizeof head);
	if (!is_sound(&head, count))
		return;
	struct known_code *there = epochs_find(epochs, EPOCHS_CODE, image_row, head.key);

	if (there == NULL || there->epoch != epochs->number) {
		codes_add(epochs, image_row, &head, bytes);
		codes->meaning += codes->has_missed;
		codes->has_missed = false;
	} else if (!there->is_doubtful && !is_same(there, &head, bytes)) {
		there->is_doubtful = true;
		codes->meaning++;
	}
}

/*
 * The language of a frame without a code; 0: the image has interpreters of several languages,
 * or none.
 */
static uint32_t only_language(const struct image *image)
{
	for (uint32_t i = 1; i < CODES_LANGUAGES; i++)
		if (image->languages == 1U << i)
			return i;
	return 0;
}

static uint32_t unknown_row(struct codes *codes, uint32_t language)
{
	uint32_t *row = &codes->unknown_codes[language];

	if (*row == 0)
		recording_writer_add_code(
			codes->writer,
			&(struct recording_code){ .language = language,
						  .name = languages[language].unknown_name },
			row);
	return *row;
}

static uint32_t module_row(struct codes *codes, uint32_t language)
{
	uint32_t *row = &codes->modules[language];

	if (*row == 0)
		recording_writer_add_module(
			codes->writer,
			&(struct recording_module){ .kind = MODULE_KIND_INTERPRETED,
						    .path = languages[language].module_path },
			row);
	return *row;
}

/* The text at *at, which moves on; NULL for an empty one, or where a NUL ends it at once. */
static char *take_text(const uint8_t **at, uint16_t len)
{
	const char *text = (const char *)*at;

	*at += len;
	return len == 0 || *text == '\0' ? NULL : xstrndup(text, len);
}

static uint32_t code_row(struct codes *codes, struct known_code *code)
{
	const struct code_kind *kind = &kinds[code->kind];
	const uint8_t *at = code->bytes;

	if (code->row != 0)
		return code->row;
	CLEANUP(freep) char *name = take_text(&at, code->name_length);
	CLEANUP(freep) char *qualified_name = take_text(&at, code->qualified_length);
	CLEANUP(freep) char *file = take_text(&at, code->file_length);

	if (name == NULL)
		return unknown_row(codes, kind->language);
	recording_writer_add_code(codes->writer,
				  &(struct recording_code){
					  .language = kind->language,
					  .name = name,
					  .qualified_name = qualified_name,
					  .file = kind->is_builtin ? NULL : file,
					  .line = kind->is_builtin ? 0 : code->first_line,
				  },
				  &code->row);
	return code->row;
}

static uint32_t python_line(struct known_code *code, uint32_t instruction)
{
	const uint8_t *table =
		code->bytes + code->name_length + code->qualified_length + code->file_length;
	struct known_line *known = &code->lines[instruction / 2 % LINES_KEPT];

	if (known->instruction != instruction) {
		known->instruction = instruction;
		known->line = python_line_of((enum python_table)code->table, table,
					     code->table_length, code->first_line, instruction);
	}
	return known->line;
}

static uint32_t code_line(struct known_code *code, uint32_t instruction)
{
	if (kinds[code->kind].is_builtin || instruction == RING_NO_INSTRUCTION)
		return 0;
	/* CRuby's walkers look the line up themselves: its tables grow with the method. */
	if (code->kind == RING_CODE_RUBY)
		return instruction;
	return python_line(code, instruction);
}

bool codes_has(const struct epochs *epochs, uint32_t image_row, uint64_t key)
{
	return epochs_find(epochs, EPOCHS_CODE, image_row, key & RING_KEY_MASK) != NULL;
}

bool codes_has_region(const struct epochs *epochs, uint32_t image_row, uint64_t key)
{
	const struct known_code *code =
		epochs_find(epochs, EPOCHS_CODE, image_row, key & RING_KEY_MASK);

	return code != NULL && code->kind == RING_CODE_REGION;
}

void codes_place(struct codes *codes, const struct epochs *epochs, const struct image *image,
		 uint32_t epoch, uint64_t word, struct recording_frame *out_frame)
{
	struct known_code *code =
		epochs_find_as_of(epochs, epoch, EPOCHS_CODE, image->row, word & RING_KEY_MASK);
	uint32_t language = only_language(image);
	uint32_t row, line = 0;

	if (code != NULL && !code->is_doubtful) {
		language = kinds[code->kind].language;
		row = code_row(codes, code);
		line = code_line(code, (uint32_t)(word & RING_NO_INSTRUCTION));
	} else {
		row = unknown_row(codes, language);
		codes->has_missed |= code == NULL;
	}
	*out_frame = (struct recording_frame){ .module = module_row(codes, language),
					       .address = (uint64_t)row << 32 | line };
}

/* The place of a function of which only the name is known. */
static void place_named(struct codes *codes, uint32_t language, const char *name, uint32_t *row,
			struct recording_frame *out_frame)
{
	if (*row == 0)
		recording_writer_add_code(
			codes->writer,
			&(struct recording_code){ .language = language, .name = name }, row);
	*out_frame = (struct recording_frame){
		.module = module_row(codes, language),
		.address = (uint64_t)*row << 32,
	};
}

void codes_place_own(struct codes *codes, uint32_t which, const char *name,
		     struct recording_frame *out_frame)
{
	place_named(codes, RECORDING_LANGUAGE_FATHOM, name, &codes->own_codes[which],
		    out_frame);
}

void codes_place_kernel(struct codes *codes, const char *name, uint32_t *row,
			struct recording_frame *out_frame)
{
	place_named(codes, RECORDING_LANGUAGE_KERNEL, name, row, out_frame);
}

void codes_place_named_own(struct codes *codes, const char *name, uint32_t *row,
			   struct recording_frame *out_frame)
{
	place_named(codes, RECORDING_LANGUAGE_FATHOM, name, row, out_frame);
}

void codes_place_read(struct codes *codes, const struct recording_code *code, uint32_t line,
		      struct recording_frame *out_frame)
{
	uint32_t row = 0;

	if (recording_writer_add_code(codes->writer, code, &row) < 0)
		row = unknown_row(codes, code->language);
	*out_frame = (struct recording_frame){ .module = module_row(codes, code->language),
					       .address = (uint64_t)row << 32 | line };
}
