/*
 * images - what becomes of traced callees when their code is unloaded.
 *
 * A callee of compiled code is known by its address, and another library may be put there.  So
 * the nodes of what has gone are not found again; they keep their counts, and the time at which
 * their addresses meant what they did.
 */
#pragma once
#include "abi/types.h"

struct ring_header;

/*
 * Of a callee that is met for the first time: where no perf event reports mappings, the recorder
 * gets a report of the one that its address is in, once.
 */
void trace_images_report(struct ring_header *ring, u64 address);
/* Before dlclose(): the time; 0: nothing is traced. */
u64 trace_images_mark(void);
/* Behind it. */
void trace_images_look(u64 before_ns);
