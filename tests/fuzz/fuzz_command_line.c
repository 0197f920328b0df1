/*
 * Parses the input as a recording's command line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load/command_line.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(freep) char *json = xstrndup((const char *)data, size);
	CLEANUP(profile_freep) struct profile *profile = profile_new();
	const char *const *words;
	size_t count = command_line_parse(json, profile, &words), len = 0;

	for (size_t i = 0; i < count; i++)
		len += strlen(words[i]);
	/* No escape is longer than what it stands for. */
	if (len > size)
		abort();
	return 0;
}
