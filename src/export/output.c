#include "export/output.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "export/sink.h"

#define FLUSH_AT 65536 /* bytes: few writes, and bounded memory for any profile */

static void flush(struct output *output)
{
	if (output->rc == 0 && output->buffer.len > 0)
		output->rc = output->sink->write(output->sink->context, output->buffer.data,
						 output->buffer.len, output->err);
	text_clear(&output->buffer);
}

void output_tick(struct output *output)
{
	if (output->buffer.len >= FLUSH_AT)
		flush(output);
}

int output_done(struct output *output)
{
	flush(output);
	text_done(&output->buffer);
	return output->rc;
}

/* U+2028 and U+2029 end a line in JavaScript but not in JSON. */
static bool is_line_separator(const char *at)
{
	return memcmp(at, "\xe2\x80\xa8", 3) == 0 || memcmp(at, "\xe2\x80\xa9", 3) == 0;
}

static size_t add_json_character(struct text *text, const char *at, size_t left)
{
	unsigned char c = (unsigned char)*at;

	if (c == '"' || c == '\\') {
		text_addf(text, "\\%c", c);
	} else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&') {
		text_addf(text, "\\u%04x", c);
	} else if (c == 0xe2 && left >= 3 && is_line_separator(at)) {
		text_addf(text, "\\u20%02x", (unsigned char)at[2] - 0x80);
		return 3;
	} else {
		text_add_bytes(text, at, 1);
	}
	return 1;
}

void output_json_string(struct output *output, const char *string)
{
	CLEANUP(text_done) struct text utf8 = { 0 };

	if (!string) {
		text_add(&output->buffer, "null");
		return;
	}
	text_add_shown(&utf8, string, strlen(string));
	text_add(&output->buffer, "\"");
	for (size_t i = 0; i < utf8.len;)
		i += add_json_character(&output->buffer, utf8.data + i, utf8.len - i);
	text_add(&output->buffer, "\"");
}
