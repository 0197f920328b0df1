#include "export/pprof_writer.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pprof.pb-c.h"

struct text_buffer {
	ProtobufCBuffer base;
	struct text *text;
};

static void append_to_text(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	text_add_bytes(((struct text_buffer *)buffer)->text, data, len);
}

void pprof_write(struct pprof_writer *writer, const ProtobufCMessage *part)
{
	struct text_buffer buffer = { .base = { .append = append_to_text },
				      .text = &writer->output.buffer };

	protobuf_c_message_pack_to_buffer(part, &buffer.base);
	output_tick(&writer->output);
}

int64_t pprof_string(struct pprof_writer *writer, const char *string)
{
	CLEANUP(text_done) struct text utf8 = { 0 };

	if (!string || !*string)
		return 0;
	text_add_shown(&utf8, string, strlen(string));
	return intern_add(&writer->strings, utf8.data, utf8.len);
}

static void write_strings(struct pprof_writer *writer)
{
	for (uint32_t i = 0; i <= writer->strings.count; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		const char *string = i > 0 ? intern_get(&writer->strings, i, NULL) : "";
		part.n_string_table = 1;
		part.string_table = (char *[]){ (char *)string };
		pprof_write(writer, &part.base);
	}
}

int pprof_writer_done(struct pprof_writer *writer)
{
	write_strings(writer);
	intern_done(&writer->strings);
	return output_done(&writer->output);
}
