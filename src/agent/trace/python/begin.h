/*
 * begin - which hooks a CPython gets, by its version.
 */
#pragma once

struct python_layout;

/* The interpreter that this process traces from now on; layout is copied. */
void trace_python_begin(const struct python_layout *layout);
