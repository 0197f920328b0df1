/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * regions - memory in which the agent notes the regions that each thread has open; written by the
 * threads, and read from outside for threads that wait (remote/regions.h).
 */
#pragma once
#include "name_text.h"

#define REGIONS_OPEN  32U /* nested regions of a thread: further ones are not reported */
#define REGION_PLACES 4U
#define REGIONS_SLOTS 1024U /* threads that may have open regions at one time */

/* A region's name as reports show it, [region load]; shared by all regions of this name. */
struct region_name {
	u64 key; /* abi/ring.h, RING_CODE_REGION */
	struct name_text text;
};

enum region_anchor {
	REGION_NATIVE,
	REGION_PYTHON,
	REGION_RUBY, /* the frame is a method that serves only this: the region replaces it */
};

/* The frame in which a region was begun, and its callers, innermost first. */
struct region_place {
	enum region_anchor anchor;
	u32 count; /* 0: unknown */
	struct {
		u64 frame, code; /* code: for Python only */
	} frames[REGION_PLACES];
};

struct region {
	u64 serial;                     /* unique in the process; 0: being added or removed */
	u64 key;                        /* key of its name */
	const struct region_name *name; /* in the target's memory */
	struct region_place place;
};

struct regions {
	u32 count; /* may exceed REGIONS_OPEN */
	struct region open[REGIONS_OPEN];
};

struct regions_area {
	/*
	 * Threads' ids; 0: free.  Separate from the slots, so that a search touches no unused
	 * slot.
	 */
	u32 owners[REGIONS_SLOTS];
	struct regions slots[REGIONS_SLOTS];
};

static inline int region_place_has_frame(const struct region_place *place, u64 frame, u64 code)
{
	for (u32 i = 0; i < place->count && i < REGION_PLACES; i++) {
		if (place->frames[i].frame == frame && place->frames[i].code == code)
			return 1;
	}
	return 0;
}
