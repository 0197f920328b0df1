#include "cli/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/output.h"

static void say_sentence(const char *sentence)
{
	struct text line = { 0 };

	text_add(&line, "fathom: ");
	text_add_printable(&line, sentence, strlen(sentence));
	text_add(&line, "\n");
	output_write(STDERR_FILENO, "standard error", line.data, line.len, NULL);
	text_done(&line);
}

void say(const char *format, ...)
{
	char *sentence = NULL;
	va_list arguments;

	va_start(arguments, format);
	int len = vasprintf(&sentence, format, arguments);

	va_end(arguments);
	if (len < 0)
		return;
	say_sentence(sentence);
	free(sentence);
}

void say_error(const struct error *err)
{
	say_sentence(err->text);
}

void say_notes(const struct notes *notes)
{
	for (size_t i = 0; i < notes_count(notes); i++) {
		uint64_t times = 1;
		const char *text = notes_text(notes, i, &times);

		if (times > 1)
			say("note: %s (%" PRIu64 " times)", text, times);
		else
			say("note: %s", text);
	}
}
