/*
 * regions - the program's named regions (core/regions.h) as traced calls.
 */
#pragma once
#include "abi/types.h"

struct region;
struct region_asking;

/*
 * Begins or ends a region of the calling thread, below the calls that ask for it: an innermost C
 * function, and the functions in `asking` (NULL: none).
 */
void trace_region_begin(const struct region *region, const struct region_asking *asking);
void trace_region_end(u64 serial);
/* The identity of a region by its name. */
u64 trace_region_identity(u64 name);
