/*
 * shell_word - an argument as a shell reads it.
 */
#pragma once

struct text;

/* Quoted only where it must be. */
void shell_word_add(struct text *text, const char *word);
