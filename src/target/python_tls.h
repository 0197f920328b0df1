/*
 * python_tls - where 3.15's PyGILState_GetThisThreadState() finds its answer.
 *
 * Up to 3.14 that function reads a pthread key, and may be called in a signal's handler.  From
 * 3.15 on it reads a thread-local variable, and in a library that may mean a call of
 * __tls_get_addr(), which allocates the first time: so its place is read out of the code, and
 * the variable without the function.
 */
#pragma once
#include <stdbool.h>

#include "abi/python_layout.h"

struct python_elf;
struct python_symbol;

struct python_tls {
	enum python_state_means means;
	u64 place, module; /* as in struct python_layout */
};

/*
 * Follows the function's code up to its first load of a thread-local variable.  False when it
 * has instructions that no compiler was seen to write there.
 */
bool python_tls_find(struct python_elf *elf, const struct python_symbol *function,
		     struct python_tls *out_tls);
