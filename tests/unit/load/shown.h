/*
 * shown - the stacks that a recording made by hand shows, with and without plumbing.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The recording of this file name; profile_free(). */
struct profile *shown_load(const char *file, bool shows_plumbing);
/* What a stack's innermost frame is in. */
const struct function *shown_function(const struct profile *profile, struct stack_id stack);
/* Every stack with samples, a line each as they came: "2 <module>:3 Worker.run:12". */
void shown_must_be(const char *file, bool shows_plumbing, const char *expected);
/* The time of everything. */
uint64_t shown_sum(const char *file, bool shows_plumbing);
