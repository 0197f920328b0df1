/*
 * state - the thread state by which CPython knows the calling thread.
 */
#pragma once
#include <stdbool.h>

#include "abi/python_layout.h"

struct mem;

/*
 * The state by which this thread is known whether it holds the GIL or not
 * (PyGILState_GetThisThreadState()); 0: it has none.  It may be anything still:
 * python_is_state().
 */
u64 python_find_state(struct mem *mem, const struct python_layout *layout);
/* Whether there are interpreters besides the first (sub-interpreters). */
bool python_has_interpreters(struct mem *mem, const struct python_layout *layout);
/* This thread's states, one in each interpreter that has one, by their number; 0: no more. */
u64 python_list_state(struct mem *mem, const struct python_layout *layout, u32 index);
