#include "load/whole_name.h"

#include <stdbool.h>
#include <string.h>

/* The longest name by the kernel, and the mark of a cut title (collect/processes/title.c). */
#define NAME_MAX_BYTES 15
#define ELLIPSIS       "…"

static bool is_cut(const char *name)
{
	return strlen(name) == NAME_MAX_BYTES;
}

static bool ends_with_ellipsis(const char *text, size_t len)
{
	const size_t dots = strlen(ELLIPSIS);

	return len >= dots && memcmp(text + len - dots, ELLIPSIS, dots) == 0;
}

const char *whole_name_of(struct intern *strings, const char *name, const char *title)
{
	if (!is_cut(name) || title == NULL || strncmp(title, name, NAME_MAX_BYTES) != 0)
		return NULL;
	const size_t len = NAME_MAX_BYTES + strcspn(title + NAME_MAX_BYTES, " ");

	/* The title is cut there, too: no more is known. */
	if (ends_with_ellipsis(title, len))
		return NULL;
	return intern_get(strings, intern_add(strings, title, len), NULL);
}

static uint64_t number_of(const struct intern *strings, const char *string)
{
	return (uint64_t)intern_find(strings, string, strlen(string)) + 1;
}

void whole_names_add(struct whole_names *names, struct intern *strings, const char *name,
		     const char *whole)
{
	bool is_new;
	uint64_t *number = table_at(&names->by_name, 0, number_of(strings, name), &is_new);

	if (is_new)
		*number = number_of(strings, whole);
	else if (*number != number_of(strings, whole))
		*number = 0;
}

const char *whole_names_find(const struct whole_names *names, const struct intern *strings,
			     const char *name)
{
	uint64_t number;

	if (!is_cut(name) ||
	    !table_get(&names->by_name, 0, number_of(strings, name), &number) || number == 0)
		return name;
	return intern_get(strings, (uint32_t)(number - 1), NULL);
}

void whole_names_done(struct whole_names *names)
{
	table_done(&names->by_name);
}
