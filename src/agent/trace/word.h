/*
 * word - a word of the program's data, written where that may be.
 *
 * Where a filter may forbid the kernel's copy (a container has one as a rule), only data of an
 * image is written, which says where it is read-only.
 */
#pragma once
#include <stdbool.h>

/* False: the memory is read-only, where a store would kill, or nobody knows whether it is. */
bool trace_put_word(void **place, void *word);
