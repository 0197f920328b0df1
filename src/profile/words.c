/* The words for languages and thread states in reports and JSON. */
#include <stddef.h>
#include <string.h>

#include "profile/profile.h"

/* Prefix of bracketed names for what is unknown: collect/stacks/codes.c. */
#define UNKNOWN_NAME "[unknown "

static const char *const state_names[THREAD_STATE_COUNT] = {
	[THREAD_STATE_RUNNING] = "running", [THREAD_STATE_RUNNABLE] = "runnable",
	[THREAD_STATE_GIL] = "gil",         [THREAD_STATE_GVL] = "gvl",
	[THREAD_STATE_LOCK] = "lock",       [THREAD_STATE_SYSCALL] = "syscall",
	[THREAD_STATE_STOPPED] = "stopped", [THREAD_STATE_IO] = "io",
	[THREAD_STATE_SLEEP] = "sleep",     [THREAD_STATE_WAIT] = "wait",
};

const char *thread_state_name(enum thread_state state)
{
	return state_names[state];
}

bool thread_state_parse(const char *name, enum thread_state *out_state)
{
	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		if (strcmp(state_names[state], name) == 0) {
			*out_state = (enum thread_state)state;
			return true;
		}
	}
	return false;
}

const char *language_name(enum language language)
{
	static const char *const names[LANGUAGE_COUNT] = {
		[LANGUAGE_NATIVE] = "native", [LANGUAGE_PYTHON] = "python",
		[LANGUAGE_RUBY] = "ruby",     [LANGUAGE_KERNEL] = "kernel",
		[LANGUAGE_FATHOM] = "fathom", [LANGUAGE_REGION] = "region",
	};

	return (unsigned int)language < LANGUAGE_COUNT ? names[language] : "native";
}

const char *language_title(enum language language)
{
	static const char *const titles[LANGUAGE_COUNT] = {
		[LANGUAGE_PYTHON] = "Python",
		[LANGUAGE_RUBY] = "Ruby",
		[LANGUAGE_KERNEL] = "kernel",
	};

	return (unsigned int)language < LANGUAGE_COUNT ? titles[language] : NULL;
}

bool language_is_interpreted(enum language language)
{
	return language == LANGUAGE_PYTHON || language == LANGUAGE_RUBY;
}

bool function_is_builtin(const struct function *function)
{
	return language_is_interpreted(function->language) && !function->file &&
	       function->line == 0 &&
	       strncmp(function->name, UNKNOWN_NAME, strlen(UNKNOWN_NAME)) != 0;
}
