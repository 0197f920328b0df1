/*
 * entries - finds an interpreter's functions by name at run time.
 *
 * A file that calls such functions lists them as ENTRY_MAP(X), by X(name, result, arguments).
 * Types, a struct of pointers and the lookup (ENTRIES_FIND()) are made of it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ENTRY_TYPE(name, result, arguments)   typedef result name##_type arguments;
#define ENTRY_MEMBER(name, result, arguments) name##_type *name;
#define ENTRY_NAME(name, result, arguments)   #name,

/* Calls entries_find() for a whole list, into its struct. */
#define ENTRIES_FIND(out, MAP, find, context)                                           \
	entries_find((out), (const char *const[]){ MAP(ENTRY_NAME) },                   \
		     sizeof((const char *const[]){ MAP(ENTRY_NAME) }) / sizeof(char *), \
		     (find), (context))

typedef void *entry_finder(void *context, const char *name);

/*
 * Stores the functions' addresses in a struct of pointers; true if all were found.  ISO C has no
 * conversion from an object pointer to a function pointer; POSIX has.
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
