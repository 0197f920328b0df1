/*
 * state - finds the calling thread's state in CPython (PyThreadState).
 */
#pragma once
#include <stdbool.h>

#include "abi/python_layout.h"

struct mem;

/*
 * The thread's state, whether it holds the GIL or not (PyGILState_GetThisThreadState()); 0: it has
 * none.  The result is unchecked: python_is_state().
 */
u64 python_find_state(struct mem *mem, const struct python_layout *layout);
/* Whether there are interpreters besides the first (sub-interpreters). */
bool python_has_interpreters(struct mem *mem, const struct python_layout *layout);
/* This thread's state number `index`: it may have one in each interpreter; 0: no more. */
u64 python_list_state(struct mem *mem, const struct python_layout *layout, u32 index);
