#include "agent/trace/dlopened.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>

#include "agent/core/handshake.h"
#include "agent/core/images.h"
#include "agent/trace/area.h"
#include "agent/trace/python/monitoring.h"
#include "agent/trace/ruby/ruby.h"
#include "agent/trace/trace.h"

/* New images seen since the last unload; for more than these the recorder is not asked. */
#define ASKED_MAX 64U

static struct {
	const struct link_map *asked[ASKED_MAX];
	u32 count;
} asked_images;

/* True once for each image, or twice if two threads call at once. */
static bool is_new(const struct link_map *image)
{
	const u32 count = __atomic_load_n(&asked_images.count, __ATOMIC_ACQUIRE);

	for (u32 i = 0; i < count && i < ASKED_MAX; i++) {
		if (__atomic_load_n(&asked_images.asked[i], __ATOMIC_RELAXED) == image)
			return false;
	}
	if (count >= ASKED_MAX)
		return false;
	__atomic_store_n(&asked_images.asked[count], image, __ATOMIC_RELAXED);
	__atomic_store_n(&asked_images.count, count + 1, __ATOMIC_RELEASE);
	return true;
}

void trace_dlopened_look(const void *caller)
{
	const int saved_errno = errno;

	if (trace_area_of_process() == NULL ||
	    (trace_layout() != NULL && trace_ruby_layout() != NULL))
		return;
	trace_monitoring_begin_again();
	const struct link_map *image = images_at(caller);

	if (image == NULL || images_is_lasting(image))
		return;
	if (is_new(image))
		handshake_report_loaded();
	trace_begin_dlopened(image);
	errno = saved_errno;
}

void trace_dlopened_flush(void)
{
	const struct python_layout *layout = trace_layout();

	__atomic_store_n(&asked_images.count, 0, __ATOMIC_RELEASE);
	if (layout == NULL)
		return;
	const struct link_map *image = images_at((void *)layout->loop[0].start);

	if (image == NULL || image->l_addr != layout->load_bias)
		trace_set_layout(NULL);
}
