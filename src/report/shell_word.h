/* shell_word - quotes an argument for a shell. */
#pragma once

struct text;

/* Adds quotes only if they are needed. */
void shell_word_add(struct text *text, const char *word);
