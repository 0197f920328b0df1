/* Opens recordings and reads their facts, finished or still being written (reader.h). */
#include "record/reader_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/keys.h"
#include "record/lock.h"
#include "record/reader.h"

bool recording_reader_is_finished(const struct recording_reader *reader)
{
	return reader->is_finished;
}

bool recording_reader_is_being_written(const struct recording_reader *reader)
{
	return !reader->is_finished && lock_is_taken(reader->probe.fd);
}

bool recording_reader_is_symbolized(const struct recording_reader *reader)
{
	const char *value =
		recording_reader_get((struct recording_reader *)reader, KEY_SYMBOLIZED);

	return value != NULL && strcmp(value, "1") == 0;
}

static const struct reader_fact *find_fact(const struct recording_reader *reader,
					   const char *key)
{
	for (size_t i = 0; i < reader->fact_count; i++)
		if (strcmp(reader->facts[i].key, key) == 0)
			return &reader->facts[i];
	return NULL;
}

const char *recording_reader_get(struct recording_reader *reader, const char *key)
{
	const struct reader_fact *fact = find_fact(reader, key);

	return fact != NULL ? fact->text : NULL;
}

int64_t recording_reader_get_int(struct recording_reader *reader, const char *key)
{
	const struct reader_fact *fact = find_fact(reader, key);

	return fact != NULL ? fact->number : RECORDING_UNKNOWN;
}
