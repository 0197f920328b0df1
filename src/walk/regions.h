/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * regions - how the agent keeps which regions each thread has open: by the thread itself, and read
 * from outside of threads that wait (remote/regions.h).
 */
#pragma once
#include "name_text.h"

#define REGIONS_OPEN  32U /* of one thread, in each other: those further in are not reported */
#define REGION_PLACES 4U
#define REGIONS_SLOTS 1024U /* threads with a region open, at one time */

/* A name as reports show it, [region load]; one for all regions that have it. */
struct region_name {
	u64 key; /* abi/ring.h, RING_CODE_REGION */
	struct name_text text;
};

enum region_anchor {
	REGION_NATIVE,
	REGION_PYTHON,
	REGION_RUBY, /* the frame is a method that has no other use: the region stands for it */
};

/* The frame that a region was begun in, and its callers; innermost first. */
struct region_place {
	enum region_anchor anchor;
	u32 count; /* 0: it is not known */
	struct {
		u64 frame, code; /* code: of Python's alone */
	} frames[REGION_PLACES];
};

struct region {
	u64 serial;                     /* of the process; 0: it is being made, or taken away */
	u64 key;                        /* of the name that it was given */
	const struct region_name *name; /* in the target's memory */
	struct region_place place;
};

struct regions {
	u32 count; /* there may be more than have room */
	struct region open[REGIONS_OPEN];
};

struct regions_area {
	/* Threads' ids; 0: free.  Apart from the slots: looking touches none that was never used. */
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
