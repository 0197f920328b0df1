/*
 * rule_cache - which unwind rule an address has, or that it has none.  Callable in handlers, and
 * by any number of threads at once.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* The rule that is kept for address; 0: none, or it is kept that there is none. */
u64 rule_cache_get(u64 address, bool *out_has_no_rule);
void rule_cache_put(u64 address, u64 rule);
void rule_cache_put_none(u64 address);
/* Images may have gone: what was kept of their addresses is void. */
void rule_cache_flush(void);
