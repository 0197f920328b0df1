/*
 * wait_names - names what threads of compiled code wait for in a futex, by the library
 * functions that called it and the place in the program that called those: "futex(condition at
 * pool.cpp:22)".
 *
 * The recorder knows addresses only: it has named variables of the program, and locks of Python
 * and Ruby.  Without lines the function is shown: "futex(mutex in bioThread)".
 */
#pragma once
#include <stdbool.h>

#include "profile/ids.h"

struct profile;
struct text;

/*
 * Adds a better name for the system call `name`, which the stack `callers` called.  False:
 * nothing is added, and the name stays.
 */
bool wait_names_add(const struct profile *profile, struct stack_id callers, const char *name,
		    struct text *out);
