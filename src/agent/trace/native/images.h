/*
 * images - marks the nodes of compiled callees whose code was unloaded.
 *
 * Callees of compiled code are identified by address, and another library may be mapped there
 * later.  So nodes of unloaded code get an identity that no event finds; they keep their counts,
 * and the time at which their addresses were valid.
 */
#pragma once
#include "abi/types.h"

struct ring_header;

/*
 * For a callee called for the first time: where no perf event reports mappings, sends the recorder
 * the image that the address is in, once per image.
 */
void trace_images_report(struct ring_header *ring, u64 address);
/* Before dlclose(): returns the time; 0: nothing is traced. */
u64 trace_images_mark(void);
/* After dlclose(): marks the nodes of images that are gone. */
void trace_images_look(u64 before_ns);
