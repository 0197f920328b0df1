#include "sent_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "record/writer.h"

static u16 add_text(char *bytes, size_t *len, const char *text)
{
	const size_t text_len = strlen(text);

	memcpy(bytes + *len, text, text_len);
	*len += text_len;
	return (u16)text_len;
}

void put_code(struct ring_header *ring, const struct made_code *code)
{
	u64 words[64] = { 0 };
	char *bytes = (char *)(words + RING_WORDS(struct ring_code));
	struct ring_code head = { .key = code->key,
				  .kind = code->kind,
				  .table = code->table,
				  .first_line = code->first_line };
	size_t len = 0;

	head.name_length = add_text(bytes, &len, code->name);
	head.qualified_length = add_text(bytes, &len, code->qualified_name);
	head.file_length = add_text(bytes, &len, code->file);
	head.table_length = add_text(bytes, &len, code->lines);
	memcpy(words, &head, sizeof head);
	put(ring, RING_CODE, words,
	    (u16)(RING_WORDS(struct ring_code) + (len + sizeof(u64) - 1) / sizeof(u64)));
}

static int take_stack(void *context, const struct recording_stack *row)
{
	assert_in_range(row->id, 1, 63);
	((struct content *)context)->stacks[row->id] = *row;
	return 0;
}

static int take_frame(void *context, const struct recording_frame *row)
{
	assert_in_range(row->id, 1, 63);
	((struct content *)context)->frames[row->id] = *row;
	return 0;
}

static int take_module(void *context, const struct recording_module *row)
{
	assert_in_range(row->id, 1, 7);
	struct content *content = context;

	content->kinds[row->id] = row->kind;
	snprintf(content->module_paths[row->id], sizeof content->module_paths[0], "%s",
		 row->path);
	return 0;
}

static int take_code(void *context, const struct recording_code *row)
{
	struct content *content = context;

	assert_in_range(row->id, 1, 31);
	content->languages[row->id] = row->language;
	snprintf(content->codes[row->id], sizeof content->codes[0], "%s",
		 row->qualified_name != NULL ? row->qualified_name : row->name);
	snprintf(content->paths[row->id], sizeof content->paths[0], "%s",
		 row->file != NULL ? row->file : "no file");
	content->first_lines[row->id] = row->line;
	content->code_count++;
	return 0;
}

static int take_sample(void *context, const struct recording_sample *row)
{
	struct content *content = context;

	assert_in_range(content->sample_count, 0, 15);
	content->endings[content->sample_count] = row->ending;
	content->samples[content->sample_count++] = row->stack;
	return 0;
}

struct content read_content(struct scene *scene)
{
	struct content content = { .code_count = 0 };
	struct recording_reader *reader;
	struct error err;

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_module(reader, take_module, &content, &err), &err);
	must(recording_reader_each_frame(reader, take_frame, &content, &err), &err);
	must(recording_reader_each_stack(reader, take_stack, &content, &err), &err);
	must(recording_reader_each_code(reader, take_code, &content, &err), &err);
	must(recording_reader_each_sample(reader, take_sample, &content, &err), &err);
	recording_reader_close(reader);
	return content;
}

void assert_sample(const struct content *content, uint32_t sample, const char *due)
{
	struct text is = { 0 };

	assert_in_range(sample, 0, content->sample_count - 1);
	for (uint32_t stack = content->samples[sample]; stack != 0;
	     stack = content->stacks[stack].parent) {
		const struct recording_frame *frame =
			&content->frames[content->stacks[stack].frame];

		if (is.len > 0)
			text_add(&is, " < ");
		if (content->kinds[frame->module] == MODULE_KIND_INTERPRETED)
			text_addf(&is, "%s:%u", content->codes[frame->address >> 32],
				  (unsigned)(uint32_t)frame->address);
		else
			text_addf(&is, "0x%llx", (unsigned long long)frame->address);
	}
	assert_string_equal(text_string(&is), due);
	text_done(&is);
}

const char *module_of_code(const struct content *content, uint32_t code)
{
	for (size_t i = 1; i < 64; i++) {
		const struct recording_frame *frame = &content->frames[i];

		if (content->kinds[frame->module] == MODULE_KIND_INTERPRETED &&
		    frame->address >> 32 == code)
			return content->module_paths[frame->module];
	}
	return "none";
}
