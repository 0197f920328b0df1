/*
 * wait_names - what threads of compiled code wait for in a futex, by the functions that called it and
 * the place in the program that called those: "futex(condition at pool.cpp:22)".
 *
 * The recorder knows addresses only: it has named what is a variable of the program's, and locks of
 * Python's and Ruby's.  Where there are no lines it is the function: "futex(mutex in bioThread)".
 */
#pragma once
#include <stdbool.h>

#include "profile/ids.h"

struct profile;
struct text;

/*
 * A name for the call called so, at the end of a stack whose callers are at `callers`.  False, and
 * nothing is added: it stays as it is.
 */
bool wait_names_add(const struct profile *profile, struct stack_id callers, const char *name,
		    struct text *out);
