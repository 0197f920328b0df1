/* The C part of the demonstration: two functions of which one does four times the work. */
#include <stddef.h>

unsigned long score(const char *text, size_t length);

static __attribute__((noinline)) unsigned long mix(const char *text, size_t length, int rounds)
{
	unsigned long value = 1;

	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < length; i++)
			value = value * 31 + (unsigned char)text[i];
	return value;
}

static __attribute__((noinline)) unsigned long vowels(const char *text, size_t length)
{
	return mix(text, length, 4);
}

static __attribute__((noinline)) unsigned long consonants(const char *text, size_t length)
{
	return mix(text, length, 16);
}

unsigned long score(const char *text, size_t length)
{
	return vowels(text, length) + consonants(text, length);
}
