/*
 * meaning - what ids of a profile mean, with an answer for "none" too.
 *
 * Inside export/ only.
 */
#pragma once
#include <stdint.h>

struct function;
struct profile;
struct text;

/* Of function_id n.  A function called "[unknown]" for 0; a name is never empty. */
const struct function *meaning_of_function(const struct profile *profile, uint32_t n);
/* The path of the function's module, or NULL. */
const char *meaning_of_module(const struct profile *profile, const struct function *function);
/* Adds "process (pid) / thread (tid)" of thread_id n, as far as it is known. */
void meaning_add_thread(struct text *text, const struct profile *profile, uint32_t n);
