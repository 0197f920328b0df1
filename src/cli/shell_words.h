/*
 * shell_words - a command that was given as one argument, as words.
 *
 * As a shell splits it: at blanks, with quotes and backslashes.  No shell runs, for its own start
 * would be measured as the command's; what only a shell can do is refused.
 */
#pragma once

struct error;

/*
 * The words, NULL-terminated, in one allocation: the caller's to free().  NULL and a sentence: a
 * quote that does not end, no word, or what only a shell does (pipes, variables, patterns).
 */
char **shell_words_split(const char *command, struct error *err);
