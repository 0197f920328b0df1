/*
 * entries - functions of an interpreter's that are called by their names, for nothing of ours
 * is linked with it.
 *
 * A file that calls some lists them, ENTRY_MAP(X), by X(name, result, arguments); their types, a
 * struct of pointers to them and what finds them (ENTRIES_FIND()) are made of that list.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ENTRY_TYPE(name, result, arguments)   typedef result name##_type arguments;
#define ENTRY_MEMBER(name, result, arguments) name##_type *name;
#define ENTRY_NAME(name, result, arguments)   #name,

/* entries_find() of all that a list has, into its struct. */
#define ENTRIES_FIND(out, MAP, find, context)                                           \
	entries_find((out), (const char *const[]){ MAP(ENTRY_NAME) },                   \
		     sizeof((const char *const[]){ MAP(ENTRY_NAME) }) / sizeof(char *), \
		     (find), (context))

typedef void *entry_finder(void *context, const char *name);

/*
 * Puts where each is into a struct of pointers to them; says whether all are there.  ISO C has
 * no way from an object's pointer to a function's; POSIX has.
 */
static inline bool entries_find(void *out, const char *const *names, size_t count,
				entry_finder *find, void *context)
{
	bool has_all = true;

	for (size_t i = 0; i < count; i++) {
		void *found = find(context, names[i]);

		memcpy((char *)out + i * sizeof found, &found, sizeof found);
		has_all = has_all && found != NULL;
	}
	return has_all;
}
