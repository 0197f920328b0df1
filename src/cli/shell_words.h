/*
 * shell_words - splits a command given as one argument into words.
 *
 * As a shell does: at blanks, with quotes and backslashes. No shell is run, as its start-up
 * would be measured with the command; what needs a shell is refused.
 */
#pragma once

struct error;

/*
 * The words, NULL-terminated, in one allocation that the caller frees. NULL and a sentence: an
 * unterminated quote, no word, or something that needs a shell (pipes, variables, patterns).
 */
char **shell_words_split(const char *command, struct error *err);
