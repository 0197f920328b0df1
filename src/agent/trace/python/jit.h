/*
 * jit - whether a CPython is going to compile code while it runs.
 *
 * What is compiled is executed by other means than the loop's table, so dispatch hooks in that do not see
 * it.  Builds that can compile are an experiment of 3.13 and later (configure's
 * --enable-experimental-jit), and most have it switched off.
 */
#pragma once
#include <stdbool.h>

struct python_layout;

/* Whether it was built to; false: it need not be asked. */
bool trace_jit_may_be(const struct python_layout *layout);
/* Whether it is switched on: known when the interpreter is initialized.  With the GIL. */
bool trace_jit_is_on(void);
