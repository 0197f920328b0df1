#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "table.h"

struct notes {
	struct intern texts;
	uint64_t *times; /* how often text i + 1 was added */
	size_t times_capacity;
};

struct notes *notes_new(void)
{
	return xzalloc(sizeof(struct notes));
}

void notes_free(struct notes *notes)
{
	if (!notes)
		return;
	intern_done(&notes->texts);
	free(notes->times);
	free(notes);
}

void notes_freep(struct notes **notes)
{
	notes_free(*notes);
}

void notes_add(struct notes *notes, const char *format, ...)
{
	CLEANUP(freep) char *text = NULL;
	size_t count = notes->texts.count;
	va_list args;
	uint32_t id;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	id = intern_string(&notes->texts, text);
	if (notes->texts.count > count) {
		notes->times = array_grow(notes->times, count, &notes->times_capacity,
					  sizeof *notes->times);
		notes->times[count] = 0;
	}
	notes->times[id - 1]++;
}

void notes_add_all(struct notes *notes, const struct notes *others)
{
	for (size_t i = 0; i < notes_count(others); i++)
		notes_add(notes, "%s", notes_text(others, i, NULL));
}

size_t notes_count(const struct notes *notes)
{
	return notes->texts.count;
}

const char *notes_text(const struct notes *notes, size_t i, uint64_t *out_times)
{
	if (out_times)
		*out_times = notes->times[i];
	return intern_get(&notes->texts, (uint32_t)i + 1, NULL);
}
