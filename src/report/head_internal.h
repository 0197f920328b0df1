/* What the files that write a report's head share. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "report/number.h"

static inline const char *head_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "1.2 s (3.4 %)" */
static inline void head_add_share_of(struct text *text, uint64_t ns, uint64_t whole_ns)
{
	number_add_any_time(text, ns);
	text_addf(text, " (%.1f %%)", number_percent(ns, whole_ns));
}
