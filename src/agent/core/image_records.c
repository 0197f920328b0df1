#include "agent/core/image_records.h"

#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/record.h"
#include "agent/core/thread_notes.h"

#define IMAGE_PATH_MAX  1024U
#define IMAGES_REPORTED 512U

static struct {
	u64 images[IMAGES_REPORTED]; /* the start addresses of images that were sent */
	u64 image_count;
} sent;

bool image_records_are_wanted(void)
{
	return own_ring.has_timers ||
	       __atomic_load_n(&own_ring.header->wishes, __ATOMIC_RELAXED) & RING_WISH_IMAGES;
}

void image_records_flush(struct ring_header *ring)
{
	struct record record;

	__atomic_store_n(&sent.image_count, 0, __ATOMIC_RELAXED);
	if (!record_begin(&record, ring, RING_WORDS(struct ring_flush)))
		return;
	record_put(&record, thread_notes.last_time_ns);
	record_end(&record, RING_FLUSH);
}

static bool image_is_sent(u64 start)
{
	u64 count = __atomic_load_n(&sent.image_count, __ATOMIC_ACQUIRE);

	for (u64 i = 0; i < count && i < IMAGES_REPORTED; i++) {
		if (__atomic_load_n(&sent.images[i], __ATOMIC_RELAXED) == start)
			return true;
	}
	return false;
}

/* Two threads may both send an image: the recorder takes both records for one image. */
static void image_mark_sent(u64 start)
{
	u64 place = __atomic_fetch_add(&sent.image_count, 1, __ATOMIC_ACQ_REL);

	if (place < IMAGES_REPORTED)
		__atomic_store_n(&sent.images[place], start, __ATOMIC_RELAXED);
}

void image_records_send(struct ring_header *ring, const struct image_place *image)
{
	struct record record;
	u32 length = 0;

	if (ring == NULL || image_is_sent(image->start))
		return;
	while (length < IMAGE_PATH_MAX && image->path[length] != '\0')
		length++;
	if (!record_begin(&record, ring,
			  RING_WORDS(struct ring_image) + length / sizeof(u64) + 1))
		return;
	record_put(&record, thread_notes.last_time_ns);
	record_put(&record, image->start);
	record_put(&record, image->end);
	record_put(&record, image->load_bias);
	for (u32 i = 0; i < length; i++)
		record_put_byte(&record, (u8)image->path[i]);
	record_put_byte(&record, '\0');
	record_end(&record, RING_IMAGE);
	image_mark_sent(image->start);
}
