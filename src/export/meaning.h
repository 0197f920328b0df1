/*
 * meaning - what ids of a profile mean, with an answer for "none" too.
 *
 * Inside export/ only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct function;
struct profile;
struct text;
struct weight;

/* Of function_id n.  For 0 a native function of no module and no name. */
const struct function *meaning_of_function(const struct profile *profile, uint32_t n);
/* The function's name, "[unknown]" if it has none: never empty. */
const char *meaning_of_name(const struct function *function);
/* The path of the function's module, or NULL. */
const char *meaning_of_module(const struct profile *profile, const struct function *function);
/* Adds "process (pid) / thread (tid)" of thread_id n, as far as it is known. */
void meaning_add_thread(struct text *text, const struct profile *profile, uint32_t n);
/* What is counted beside time: "samples", or of a trace "calls". */
const char *meaning_of_counts(const struct profile *profile);
uint64_t meaning_of_count(const struct profile *profile, const struct weight *weight);
/*
 * Whether stacks end with what their threads did: on the wall clock, unless the user wants none of
 * that.
 */
bool meaning_has_states(const struct profile *profile);
/* "[io]", as reports have what stands for no code. */
void meaning_add_state(struct text *text, uint32_t state);
