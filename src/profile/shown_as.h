/*
 * shown_as - whether a name that a report shows shortened ("std::map<…>::operator[]", "…#split") is
 * that of a function, so that it can be typed as it stands there.
 */
#pragma once
#include <stdbool.h>

/*
 * "…" stands for whatever was left out.  What the shown name lacks is at most a returned type in
 * front, and parameters behind.  False of a name without "…".
 */
bool shown_as(const char *name, const char *shown);
