/*
 * pager - shows a text on the terminal page by page, as git does.
 */
#pragma once
#include <stddef.h>

struct error;

/*
 * Writes the text to stdout; through FATHOM_PAGER, PAGER or less when that is a terminal.
 * An empty value, or cat, means no pager.
 */
int pager_show(const char *text, size_t len, struct error *err);
