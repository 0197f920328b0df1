#include "agent/trace/native/images.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/core/cpu_time.h"
#include "agent/core/own_ring.h"
#include "agent/core/image_records.h"
#include "agent/core/images.h"
#include "agent/trace/area.h"
#include "agent/trace/native/native.h"

static int read_unloads(struct dl_phdr_info *info, size_t size, void *out_count)
{
	(void)size;
	*(u64 *)out_count = info->dlpi_subs;
	return 1;
}

/* Starts of images with traced callees; 0: free.  All mapped: no callee's code has gone. */
#define IMAGES_MAX 256U
static struct {
	u64 starts[IMAGES_MAX];
	bool has_others;  /* images beyond these, or that could not be looked up */
	u64 unloads_seen; /* dlpi_subs, seen last: dlclose() seldom unloads an image */
} called;

static void remember(u64 start)
{
	for (u32 i = 0; i < IMAGES_MAX; i++) {
		u64 there = __atomic_load_n(&called.starts[i], __ATOMIC_RELAXED);

		if (there == start ||
		    (there == 0 &&
		     __atomic_compare_exchange_n(&called.starts[i], &there, start, 0,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ||
		    there == start)
			return;
	}
	__atomic_store_n(&called.has_others, true, __ATOMIC_RELAXED);
}

static bool have_gone(void)
{
	struct dl_find_object found;
	bool is_one = called.has_others;

	for (u32 i = 0; i < IMAGES_MAX; i++) {
		const u64 start = called.starts[i];

		if (start == 0 || (images_find_object((void *)start, &found) == 0 &&
				   (u64)found.dlfo_map_start == start))
			continue;
		is_one = true;
		__atomic_store_n(&called.starts[i], 0, __ATOMIC_RELAXED);
	}
	return is_one;
}

/* A mapped image, cached: neighbouring nodes are often of one image. */
struct place {
	u64 start, end;
};

static bool is_there(u64 address, struct place *last)
{
	struct dl_find_object found;
	Dl_info info;

	if (address >= last->start && address < last->end)
		return true;
	if (images_find_object == NULL)
		return dladdr((void *)address, &info) != 0;
	if (images_find_object((void *)address, &found) != 0)
		return false;
	*last = (struct place){ (u64)found.dlfo_map_start, (u64)found.dlfo_map_end };
	return true;
}

void trace_images_report(struct ring_header *ring, u64 address)
{
	struct dl_find_object found;

	if (images_find_object == NULL || images_find_object((void *)address, &found) != 0) {
		__atomic_store_n(&called.has_others, true, __ATOMIC_RELAXED);
		return;
	}
	remember((u64)found.dlfo_map_start);
	if (own_ring.has_timers)
		image_records_send(ring, &(struct image_place){
						 .start = (u64)found.dlfo_map_start,
						 .end = (u64)found.dlfo_map_end,
						 .load_bias = (u64)found.dlfo_link_map->l_addr,
						 .path = found.dlfo_link_map->l_name,
					 });
}

u64 trace_images_mark(void)
{
	return trace_area_of_process() != NULL ? clock_monotonic_ns() : 0;
}

static void look_at_chunk(struct trace_area *area, u32 chunk, u64 before_ns, struct place *last)
{
	for (u32 i = 0; i < TRACE_CHUNK_NODES; i++) {
		struct trace_node *node = &area->nodes[chunk * TRACE_CHUNK_NODES + i];
		const u64 key = __atomic_load_n(&node->key, __ATOMIC_ACQUIRE);

		/* Its code is not running, so no event looks for this node now. */
		if (key != 0 && key != TRACE_OUTSIDE && trace_native_is(node->kind) &&
		    !(node->identity & TRACE_UNLOADED) && !is_there(key, last))
			__atomic_store_n(&node->identity, before_ns | TRACE_UNLOADED,
					 __ATOMIC_RELAXED);
	}
}

void trace_images_look(u64 before_ns)
{
	struct trace_area *area = trace_area_of_process();
	struct place last = { 0 };
	u64 unloads = 0;

	if (before_ns == 0 || area == NULL)
		return;
	dl_iterate_phdr(read_unloads, &unloads);
	if (__atomic_exchange_n(&called.unloads_seen, unloads, __ATOMIC_RELAXED) == unloads ||
	    (images_find_object != NULL && !have_gone()))
		return;
	for (u32 chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		if (__atomic_load_n(&area->owners[chunk], __ATOMIC_RELAXED) != 0)
			look_at_chunk(area, chunk, before_ns, &last);
	}
}
