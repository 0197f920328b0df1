/*
 * account - the CPU account as a small table that adds up.
 */
#pragma once
#include <stdbool.h>

struct profile;
struct style;
struct text;

/* is_whole: with the rows that are zero. */
void account_add(struct text *out, const struct style *style, const struct profile *profile,
		 bool is_whole);
