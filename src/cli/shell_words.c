#include "cli/shell_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define BLANKS " \t\n"
/* Characters with a meaning for a shell outside of quotes, and in double quotes. */
#define FOR_A_SHELL           "|&;<>()$`*?["
#define FOR_A_SHELL_IN_QUOTES "$`"

struct splitter {
	const char *command, *at;
	char *out;
	struct error *err;
};

static int refuse(const struct splitter *splitter, char special)
{
	return error_set(
		splitter->err, -EINVAL,
		"'%s': '%c' needs a shell, and fathom starts none: write sh -c '…', in quotes",
		splitter->command, special);
}

/* Copies from after the opening quote; ends after the closing one. */
static int copy_quoted(struct splitter *splitter, char quote)
{
	for (; *splitter->at != quote; splitter->at++) {
		if (*splitter->at == '\0')
			return error_set(splitter->err, -EINVAL, "'%s': a quote is not closed",
					 splitter->command);
		if (quote == '"' && strchr(FOR_A_SHELL_IN_QUOTES, *splitter->at))
			return refuse(splitter, *splitter->at);
		if (quote == '"' && *splitter->at == '\\' && splitter->at[1] != '\0' &&
		    strchr("\"\\$`", splitter->at[1]))
			splitter->at++;
		*splitter->out++ = *splitter->at;
	}
	splitter->at++;
	return 0;
}

static int copy_word(struct splitter *splitter)
{
	while (*splitter->at != '\0' && !strchr(BLANKS, *splitter->at)) {
		const char c = *splitter->at++;
		int rc = 0;

		if (c == '\'' || c == '"')
			rc = copy_quoted(splitter, c);
		else if (strchr(FOR_A_SHELL, c))
			rc = refuse(splitter, c);
		else if (c == '\\' && *splitter->at != '\0')
			*splitter->out++ = *splitter->at++;
		else
			*splitter->out++ = c;
		if (rc < 0)
			return rc;
	}
	*splitter->out++ = '\0';
	return 0;
}

char **shell_words_split(const char *command, struct error *err)
{
	const size_t length = strlen(command), words_most = length / 2 + 2;
	/* A word needs at most its length in the command, and a NUL for the blank after it. */
	CLEANUP(freep) char **words = xzalloc(words_most * sizeof *words + length + 1);
	struct splitter splitter = { command, command, (char *)(words + words_most), err };
	size_t count = 0;

	for (;;) {
		splitter.at += strspn(splitter.at, BLANKS);
		if (*splitter.at == '\0')
			break;
		words[count++] = splitter.out;
		if (copy_word(&splitter) < 0)
			return NULL;
	}
	if (count == 0) {
		error_set(err, -EINVAL, "'%s' is no command", command);
		return NULL;
	}
	char **taken = words;

	words = NULL; /* now the caller's */
	return taken;
}
