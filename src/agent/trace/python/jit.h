/*
 * jit - whether a CPython has its JIT compiler on.
 *
 * Compiled code does not pass the eval loop's table, so dispatch hooks do not see it.  Builds
 * with a JIT are an experiment of 3.13 and later (configure's --enable-experimental-jit), and
 * most have it switched off.
 */
#pragma once
#include <stdbool.h>

struct python_layout;

/* Whether this build may have a JIT; false: trace_jit_is_on() need not be asked. */
bool trace_jit_may_be(const struct python_layout *layout);
/* Whether the JIT is on; known once the interpreter is initialised.  With the GIL. */
bool trace_jit_is_on(void);
