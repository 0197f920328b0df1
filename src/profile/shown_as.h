/*
 * shown_as - whether a shortened name from a report ("std::map<…>::operator[]", "…#split") fits
 * a function, so that users can type names as they see them.
 */
#pragma once
#include <stdbool.h>

/*
 * Each "…" stands for omitted text. Besides, only a return type in front and parameters at the
 * end may be missing. False for a name without "…".
 */
bool shown_as(const char *name, const char *shown);
