#include "agent/core/image_records.h"

#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
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
	u64 position;

	__atomic_store_n(&sent.image_count, 0, __ATOMIC_RELAXED);
	if (ring_reserve(ring, own_ring.terms.word_count, RING_WORDS(struct ring_flush),
			 &position) < 0)
		return;
	ring_put(ring, own_ring.terms.word_count, position, 1, thread_notes.last_time_ns);
	ring_commit(ring, own_ring.terms.word_count, position, RING_WORDS(struct ring_flush),
		    RING_FLUSH);
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

static u64 path_word(const char *path, u32 length, u32 index)
{
	u64 word = 0;

	for (u32 i = 0; i < sizeof(u64) && index * sizeof(u64) + i < length; i++)
		word |= (u64)(u8)path[index * sizeof(u64) + i] << 8 * i;
	return word;
}

void image_records_send(struct ring_header *ring, const struct image_place *image)
{
	u32 length = 0;
	u64 position;

	if (ring == NULL || image_is_sent(image->start))
		return;
	while (length < IMAGE_PATH_MAX && image->path[length] != '\0')
		length++;
	u32 path_words = length / (u32)sizeof(u64) + 1;
	u16 words = (u16)(RING_WORDS(struct ring_image) + path_words);

	if (ring_reserve(ring, own_ring.terms.word_count, words, &position) < 0)
		return;
	ring_put(ring, own_ring.terms.word_count, position, 1, thread_notes.last_time_ns);
	ring_put(ring, own_ring.terms.word_count, position, 2, image->start);
	ring_put(ring, own_ring.terms.word_count, position, 3, image->end);
	ring_put(ring, own_ring.terms.word_count, position, 4, image->load_bias);
	for (u32 i = 0; i < path_words; i++)
		ring_put(ring, own_ring.terms.word_count, position, 5 + i,
			 path_word(image->path, length, i));
	ring_commit(ring, own_ring.terms.word_count, position, words, RING_IMAGE);
	image_mark_sent(image->start);
}
