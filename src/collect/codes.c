/*
 * A record is the target's to write: its lengths are checked when it comes, once, and its
 * texts are only ever bytes.
 */
#include "collect/codes.h"

#include <string.h>

#include "abi/ring.h"
#include "base/memory.h"
#include "collect/epochs.h"
#include "record/writer.h"
#include "target/python_lines.h"

#define UNKNOWN_NAME "[unknown Python function]"
#define MODULE_PATH  "[python]"

struct known_code {
	uint32_t row;     /* of the recording; 0: not written yet */
	bool is_doubtful; /* another content came by the same key, in the same epoch */
	uint8_t kind, table;
	uint16_t name_length, qualified_length, file_length, table_length;
	uint32_t epoch, first_line;
	uint8_t bytes[]; /* as in the record */
};

static size_t bytes_of(const struct ring_code *head)
{
	return (size_t)head->name_length + head->qualified_length + head->file_length +
	       head->table_length;
}

/* A code without a name says nothing that a missing one does not. */
static bool is_sound(const struct ring_code *head, uint64_t count)
{
	const bool is_key =
		(head->key & ~RING_KEY_MASK) == 0 && (head->key & RING_INTERPRETED) != 0;
	const bool is_kind =
		head->kind == RING_CODE_PYTHON || head->kind == RING_CODE_PYTHON_BUILTIN;
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

static uint32_t unknown_row(struct codes *codes)
{
	if (codes->unknown_code == 0)
		recording_writer_add_code(
			codes->writer,
			&(struct recording_code){ .language = RECORDING_LANGUAGE_PYTHON,
						  .name = UNKNOWN_NAME },
			&codes->unknown_code);
	return codes->unknown_code;
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
	const bool is_builtin = code->kind == RING_CODE_PYTHON_BUILTIN;
	const uint8_t *at = code->bytes;

	if (code->row != 0)
		return code->row;
	CLEANUP(freep) char *name = take_text(&at, code->name_length);
	CLEANUP(freep) char *qualified_name = take_text(&at, code->qualified_length);
	CLEANUP(freep) char *file = take_text(&at, code->file_length);

	if (name == NULL)
		return unknown_row(codes);
	recording_writer_add_code(codes->writer,
				  &(struct recording_code){
					  .language = RECORDING_LANGUAGE_PYTHON,
					  .name = name,
					  .qualified_name = qualified_name,
					  .file = is_builtin ? NULL : file,
					  .line = is_builtin ? 0 : code->first_line,
				  },
				  &code->row);
	return code->row;
}

static uint32_t code_line(const struct known_code *code, uint32_t instruction)
{
	const uint8_t *lines =
		code->bytes + code->name_length + code->qualified_length + code->file_length;

	if (code->kind != RING_CODE_PYTHON || instruction == RING_NO_INSTRUCTION)
		return 0;
	return python_line_of((enum python_table)code->table, lines, code->table_length,
			      code->first_line, instruction);
}

void codes_place(struct codes *codes, const struct epochs *epochs, uint32_t image_row,
		 uint32_t epoch, uint64_t word, struct recording_frame *out_frame)
{
	struct known_code *code =
		epochs_find_as_of(epochs, epoch, EPOCHS_CODE, image_row, word & RING_KEY_MASK);
	uint32_t row, line = 0;

	if (codes->module == 0)
		recording_writer_add_module(
			codes->writer,
			&(struct recording_module){ .kind = MODULE_KIND_INTERPRETED,
						    .path = MODULE_PATH },
			&codes->module);
	if (code != NULL && !code->is_doubtful) {
		row = code_row(codes, code);
		line = code_line(code, (uint32_t)(word & RING_NO_INSTRUCTION));
	} else {
		row = unknown_row(codes);
		codes->has_missed |= code == NULL;
	}
	*out_frame = (struct recording_frame){ .module = codes->module,
					       .address = (uint64_t)row << 32 | line };
}
