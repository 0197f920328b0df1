#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY 16

static void *alive_or_die(void *memory)
{
	static const char sentence[] = "fathom: out of memory\n";

	if (memory)
		return memory;
	/* No stdio and no exit handlers: they may allocate, too. */
	if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
		_exit(125);
	_exit(125);
}

void *xmalloc(size_t size)
{
	return alive_or_die(malloc(size ? size : 1));
}

void *xzalloc(size_t size)
{
	return alive_or_die(calloc(1, size ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	if (count == 0 || size == 0)
		count = size = 1;
	return alive_or_die(reallocarray(old, count, size));
}

char *xstrdup(const char *string)
{
	return alive_or_die(strdup(string));
}

char *xstrndup(const char *string, size_t len)
{
	return alive_or_die(strndup(string, len));
}

char *xvasprintf(const char *format, va_list args)
{
	char *string;

	return alive_or_die(vasprintf(&string, format, args) < 0 ? NULL : string);
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *string;

	va_start(args, format);
	string = xvasprintf(format, args);
	va_end(args);
	return string;
}

void freep(void *pointer_to_pointer)
{
	void *pointer;

	/* The variable may be of any pointer type, so it is copied rather than dereferenced. */
	memcpy(&pointer, pointer_to_pointer, sizeof pointer);
	free(pointer);
}

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void *array_grow(void *array, size_t count, size_t *capacity, size_t element_size)
{
	if (array && count < *capacity)
		return array;
	if (*capacity > SIZE_MAX / 2)
		return alive_or_die(NULL);
	*capacity = *capacity ? *capacity * 2 : FIRST_CAPACITY;
	return xreallocarray(array, *capacity, element_size);
}
