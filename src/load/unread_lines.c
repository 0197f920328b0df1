#include "load/unread_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "load/modules.h"
#include "record/keys.h"
#include "record/reader.h"
#include "symbol/symbolizer.h"

void unread_lines_read(struct unread_lines *unread, struct recording_reader *reader)
{
	const char *state = recording_reader_get(reader, KEY_SYMBOLIZED);
	const char *at = recording_reader_get(reader, KEY_UNREAD_LINES);

	if (state == NULL || strcmp(state, "names") != 0 || at == NULL)
		return;
	for (char *end;; at = end) {
		const unsigned long module = strtoul(at, &end, 10);

		if (end == at)
			return;
		*table_at(&unread->modules, 0, module, NULL) = 1;
	}
}

void unread_lines_done(struct unread_lines *unread)
{
	table_done(&unread->modules);
}

bool unread_lines_has(const struct unread_lines *unread, uint32_t module)
{
	uint64_t value;

	return table_get(&unread->modules, 0, module, &value);
}

static bool has_unread(const struct module_source *source)
{
	for (size_t i = 0; i < source->source_count; i++)
		if (symbol_module_has_unread_lines(source->sources[i]))
			return true;
	return false;
}

char *unread_lines_of(const struct module_sources *sources)
{
	CLEANUP(text_done) struct text text = { 0 };

	for (size_t i = 0; i < sources->module_count; i++)
		if (has_unread(&sources->modules[i]))
			text_addf(&text, "%s%u", text.len > 0 ? " " : "",
				  sources->modules[i].module.id);
	return text.len > 0 ? xstrdup(text_string(&text)) : NULL;
}
