/*
 * begin - chooses the hooks by which a CPython is traced, by its version.
 */
#pragma once

struct python_layout;

/* Begins tracing this interpreter; copies the layout. */
void trace_python_begin(const struct python_layout *layout);
