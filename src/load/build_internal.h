/* build_internal - what the files share that build a profile from a recording. */
#pragma once
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"

/* A row names another one that the recording does not have. */
static inline int build_damaged(struct error *err, const char *what, uint32_t id,
				const char *missing, uint32_t missing_id)
{
	return error_set(err, -EBADMSG,
			 "the recording is damaged: %s %" PRIu32 " names %s %" PRIu32
			 ", which is not there",
			 what, id, missing, missing_id);
}

/* A damaged table gives 0, which is "none" in every id. */
static inline uint32_t build_id_of(const struct table *table, uint32_t id)
{
	uint64_t found = 0;

	table_get(table, 0, id, &found);
	return (uint32_t)found;
}
