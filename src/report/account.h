/* account - prints the CPU account as a small table that adds up. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct profile;
struct profile_info;
struct style;
struct text;

/* is_whole: including rows that are zero. */
void account_add(struct text *out, const struct style *style, const struct profile *profile,
		 bool is_whole);
/* The CPU time that the percentages of the account and of the cost refer to. */
uint64_t account_cpu_ns(const struct profile_info *info);
