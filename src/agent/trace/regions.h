/*
 * regions - the program's regions (core/regions.h) among traced calls.
 */
#pragma once
#include "abi/types.h"

struct region;
struct region_asking;

/*
 * A region of the calling thread begins, or ends, below the calls that ask for it: the
 * innermost one of a C function, and those of asking (NULL: there are none).
 */
void trace_region_begin(const struct region *region, const struct region_asking *asking);
void trace_region_end(u64 serial);
/* Of a region's name. */
u64 trace_region_identity(u64 name);
