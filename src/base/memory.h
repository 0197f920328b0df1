/*
 * memory - allocation that cannot fail, and scope-bound clean-up.
 *
 * Out of memory ends the tool with a sentence and exit code 125.  Never used in
 * the agent.
 */
#pragma once
#include <stdarg.h>
#include <stddef.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xzalloc(size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
/* Checks count * size for overflow. */
void *xreallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *string) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *string, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));
char *xvasprintf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0), malloc, returns_nonnull));

/* For CLEANUP(): free what a `char *` or `void *` variable points to. */
void freep(void *pointer_to_pointer);
/* For CLEANUP(): close a file descriptor that is not negative. */
void closep(int *fd);
/*
 * Makes space for one more element in a growing array: returns the array, reallocated by
 * doubling when count has reached *capacity.
 */
void *array_grow(void *array, size_t count, size_t *capacity, size_t element_size)
	__attribute__((returns_nonnull));
