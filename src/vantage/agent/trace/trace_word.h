/*
 * trace_word - a word of the program's data, written where that may be.
 */
#pragma once
#include <stdbool.h>

/* False: the memory is read-only, where a store would kill, or the program forbids the call. */
bool trace_put_word(void **place, void *word);
