#include "collect/unentered.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/enter.h"
#include "collect/image.h"
#include "collect/perf_events.h"
#include "collect/tree.h"

/* The counter and /proc are not read at one moment. */
#define LEEWAY_NS 1000000

static void unentered_open_counter(struct tree *tree, struct image *image, uint64_t seen_ns)
{
	if (image->is_counter_tried)
		return;
	const int fd = perf_open_counter(image->pid, false);

	/* There may be room at the next look. */
	if (fd == -EMFILE || fd == -ENFILE)
		return;
	image->is_counter_tried = true;
	image->counter_fd = fd;
	image->counted_before_ns = image->counter_fd >= 0 ? seen_ns : 0;
	tree_read_process(tree, image);
}

/* Whether the counter sees all that /proc does. */
static bool is_counted(const struct image *image, uint64_t seen_ns)
{
	return image->counter_fd >= 0 && seen_ns < image->counted_before_ns + LEEWAY_NS +
							   perf_read_counter(image->counter_fd);
}

void unentered_look(struct tree *tree, struct image *image, const struct enter_terms *terms)
{
	const bool is_user_clock = terms->clock == CLOCK_KIND_USER;
	const uint64_t seen_ns =
		is_user_clock ? tree_user_ns(image->pid) : tree_cpu_ns(image->pid);

	image->is_gone = !tree_is_alive(image->pid);
	if (seen_ns > image->seen_ns)
		image->seen_ns = seen_ns;
	if (!terms->has_counters)
		return;
	unentered_open_counter(tree, image, seen_ns);
	if (is_user_clock || image->is_unwatched || !image->is_counter_tried ||
	    is_counted(image, seen_ns))
		return;
	image->is_unwatched = true;
	tree_read_name(tree, image);
}
