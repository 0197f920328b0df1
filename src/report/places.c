#include "report/places.h"

#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/group.h"

/* Longer paths are shown whole. */
enum { COMPONENTS_MAX = 8 };

/* The last `components` components of the path. */
static const char *tail_of(const char *path, unsigned int components)
{
	const char *at = path + strlen(path);

	while (at > path) {
		if (at[-1] == '/' && *at && --components == 0)
			return at;
		at--;
	}
	return path;
}

/*
 * The length of the part before the path, in names of Ruby: "(eval at /srv/app.rb:3)" and
 * "<internal:/usr/lib/ruby/x.rb>".
 */
static size_t lead_length(const char *file)
{
	const char *slash = *file == '<' || *file == '(' ? strchr(file, '/') : NULL;

	return slash ? (size_t)(slash - file) : 0;
}

/* Files that Python has in every folder are shown with one more component. */
static unsigned int least_components(const char *path)
{
	const char *name = tail_of(path, 1);

	return strcmp(name, "__init__.py") == 0 || strcmp(name, "__main__.py") == 0 ? 2 : 1;
}

/* A row's appearance: its name and its place. */
static uint32_t look_of(struct intern *looks, const struct group *row, unsigned int components)
{
	CLEANUP(text_done) struct text look = { 0 };

	text_add(&look, row->name);
	text_add_bytes(&look, "", 1);
	places_add(&look, row, components);
	return intern_add(looks, look.data, look.len);
}

/*
 * One round: rows that look alike but are in different files get one more component. Returns
 * whether there were any.
 */
static bool distinguish(const struct group *rows, size_t count, unsigned int *components)
{
	CLEANUP(freep) uint32_t *looks = xreallocarray(NULL, count + 1, sizeof *looks);
	struct intern interned = { 0 };
	struct table first = { 0 }; /* appearance to the first row that has it, + 1 */
	bool is_any = false;

	for (size_t i = 0; i < count; i++)
		looks[i] = rows[i].file ? look_of(&interned, &rows[i], components[i]) : 0;
	for (size_t i = 0; i < count; i++) {
		bool is_new;

		if (!looks[i])
			continue;
		uint64_t *place = table_at(&first, 0, looks[i], &is_new);

		if (is_new)
			*place = i + 1;
		size_t other = (size_t)*place - 1;

		if (strcmp(rows[other].file, rows[i].file) == 0)
			continue;
		components[i]++;
		if (components[other] < components[i])
			components[other] = components[i];
		is_any = true;
	}
	table_done(&first);
	intern_done(&interned);
	return is_any;
}

unsigned int *places_components(const struct group *rows, size_t count)
{
	unsigned int *components = xreallocarray(NULL, count + 1, sizeof *components);

	for (size_t i = 0; i < count; i++)
		components[i] = rows[i].file ? least_components(rows[i].file) : 1;
	for (int round = 1; round < COMPONENTS_MAX; round++)
		if (!distinguish(rows, count, components))
			break;
	return components;
}

void places_add(struct text *out, const struct group *row, unsigned int components)
{
	if (!row->file)
		return;
	size_t lead = lead_length(row->file);

	text_add_bytes(out, row->file, lead);
	text_add(out, tail_of(row->file + lead, components));
	if (row->line > 0)
		text_addf(out, ":%u", row->line);
}

void places_add_common(struct text *out, const char *file, size_t length)
{
	CLEANUP(freep) char *path = file ? xstrndup(file, length) : NULL;

	if (!path || length == 0)
		return;
	/* The last component, with the slash that marks a folder. */
	char *end = path + length - (path[length - 1] == '/');
	const char *at = memrchr(path, '/', (size_t)(end - path));

	text_add(out, at ? at + 1 : path);
}
