#include "load/only.h"

#include <stdlib.h>
#include <string.h>

#include "abi/only.h"
#include "base/memory.h"
#include "load/names.h"
#include "profile/profile.h"

enum verdict {
	NOT_KNOWN,
	WANTED,
	LEFT_OUT,
};

void only_init(struct only *only, const struct profile *profile, const struct names *names)
{
	const struct profile_info *info = profile_get_info(profile);
	size_t length = 1, at = 0;

	*only = (struct only){ .names = names };
	if (info->only_count == 0)
		return;
	for (size_t i = 0; i < info->only_count; i++)
		length += strlen(info->only[i]) + 1;
	only->patterns = xzalloc(length);
	for (size_t i = 0; i < info->only_count; i++) {
		const size_t size = strlen(info->only[i]);

		/* An empty pattern would end the list. */
		if (size == 0)
			continue;
		memcpy(only->patterns + at, info->only[i], size);
		at += size + 1;
	}
	only->verdicts = xzalloc(names->function_count + 1);
}

void only_done(struct only *only)
{
	free(only->patterns);
	free(only->verdicts);
	*only = (struct only){ 0 };
}

static struct only_text text_of(const char *string)
{
	return (struct only_text){ string, string ? strlen(string) : 0 };
}

/* Strips the parameters of C++'s std::sort(int*, int*), which may contain separators, too. */
static struct only_text without_parameters(struct only_text name)
{
	const char *open = memchr(name.bytes, '(', name.length);

	if (open && open != name.bytes)
		name.length = (size_t)(open - name.bytes);
	return name;
}

static bool is_wanted(const struct only *only, const struct named_function *function)
{
	struct only_callee callee = {
		.name = text_of(function->name),
		.file = text_of(function->file),
		.is_python = function->language == LANGUAGE_PYTHON,
	};

	/* Regions are always wanted: the program itself has named them. */
	if (function->language == LANGUAGE_REGION)
		return true;
	if (only_matches(only->patterns, &callee))
		return true;
	if (function->language != LANGUAGE_NATIVE)
		return false;
	callee.name = without_parameters(callee.name);
	return only_matches(only->patterns, &callee);
}

bool only_leaves_out(struct only *only, size_t function)
{
	if (!only->patterns || function >= only->names->function_count)
		return false;
	unsigned char *verdict = &only->verdicts[function];

	if (*verdict == NOT_KNOWN)
		*verdict =
			is_wanted(only, &only->names->functions[function]) ? WANTED : LEFT_OUT;
	return *verdict == LEFT_OUT;
}
