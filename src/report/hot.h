/*
 * hot - prints the hot paths of the user's own code as a table: profile/hot_paths.h.
 *
 *	total %  self %  hot paths of your code                     file:line
 *	   98.1     0.2  main                                       app.py:40
 *	   61.0     0.4    [18 frames of flask, werkzeug] → handle  app.py:21
 *	   29.7              jsonify [flask, mostly _json]
 *	   12.6    12.4      normalize                              app.py:7
 */
#pragma once
#include <stddef.h>

#include "profile/hot_paths.h"

struct packages;
struct selection;
struct style;
struct text;

/* Adds at most max_rows rows; nothing if no own code has any time. */
void hot_add(const struct selection *selection, const struct packages *packages,
	     size_t max_rows, const struct style *style, struct text *out);
