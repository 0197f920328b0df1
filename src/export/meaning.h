/*
 * meaning - resolves a profile's ids, including the id "none".
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

/* Function n; for 0 a native function without module and name. */
const struct function *meaning_of_function(const struct profile *profile, uint32_t n);
/* The function's name, "[unknown]" if it has none: never empty. */
const char *meaning_of_name(const struct function *function);
/* The path of the function's module, or NULL. */
const char *meaning_of_module(const struct profile *profile, const struct function *function);
/* Adds "process (pid) / thread (tid)" of thread_id n, as far as known. */
void meaning_add_thread(struct text *text, const struct profile *profile, uint32_t n);
/* The unit of counts: "samples", or for a trace "calls". */
const char *meaning_of_counts(const struct profile *profile);
uint64_t meaning_of_count(const struct profile *profile, const struct weight *weight);
/*
 * Whether stacks end with their threads' states: on the wall clock, unless the user disabled
 * that.
 */
bool meaning_has_states(const struct profile *profile);
/* Adds "[io]", with the brackets that reports use for what is not code. */
void meaning_add_state(struct text *text, uint32_t state);
