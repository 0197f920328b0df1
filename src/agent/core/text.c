/*
 * text - the agent's own memcpy(), strlen() and the like, in place of libc's.
 *
 * The linker binds the agent's calls to these, since they are hidden.  Calls of libc's functions
 * would be bound to a definition that is loaded before libc: a sanitizer's in the program, which
 * is not ready when our constructor runs (TSan's strcspn() jumped to address 0) and checks
 * accesses that are none of the program's, or a function of the program's own by that name.
 *
 * Simple loops: strings are short, and so are copies.
 */
#include <stddef.h>
#include <string.h>

#include "agent/core/agent_state.h"

#define HIDDEN AGENT_START __attribute__((visibility("hidden"), used))

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	char *at = to;
	const char *source = from;

	for (; len >= sizeof(long); len -= sizeof(long)) {
		__builtin_memcpy(at, source, sizeof(long));
		at += sizeof(long);
		source += sizeof(long);
	}
	while (len-- > 0)
		*at++ = *source++;
	return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t len)
{
	char *at = to;

	if (to < from)
		return memcpy(to, from, len);
	while (len-- > 0)
		at[len] = ((const char *)from)[len];
	return to;
}

HIDDEN void *memset(void *memory, int byte, size_t len)
{
	char *at = memory;

	for (size_t i = 0; i < len; i++)
		at[i] = (char)byte;
	return memory;
}

HIDDEN int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *one = a, *other = b;

	for (size_t i = 0; i < len; i++) {
		if (one[i] != other[i])
			return one[i] - other[i];
	}
	return 0;
}

HIDDEN size_t strlen(const char *text)
{
	size_t len = 0;

	while (text[len] != '\0')
		len++;
	return len;
}

HIDDEN int strncmp(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (a[i] != b[i] || a[i] == '\0')
			return (unsigned char)a[i] - (unsigned char)b[i];
	}
	return 0;
}

HIDDEN int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

HIDDEN char *strchr(const char *text, int wanted)
{
	for (;; text++) {
		if (*text == (char)wanted)
			return (char *)(unsigned long)text;
		if (*text == '\0')
			return NULL;
	}
}

HIDDEN char *strrchr(const char *text, int wanted)
{
	const char *last = NULL;

	for (;; text++) {
		if (*text == (char)wanted)
			last = text;
		if (*text == '\0')
			return (char *)(unsigned long)last;
	}
}

HIDDEN size_t strcspn(const char *text, const char *ends)
{
	size_t len = 0;

	while (text[len] != '\0' && strchr(ends, text[len]) == NULL)
		len++;
	return len;
}

HIDDEN char *stpcpy(char *restrict to, const char *restrict from)
{
	const size_t len = strlen(from);

	memcpy(to, from, len + 1);
	return to + len;
}

HIDDEN char *strcpy(char *restrict to, const char *restrict from)
{
	stpcpy(to, from);
	return to;
}

HIDDEN char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
	size_t len = 0;

	while (len < size && from[len] != '\0')
		len++;
	memcpy(to, from, len);
	memset(to + len, 0, size - len);
	return to;
}
