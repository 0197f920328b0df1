/* A ring has room for what all processors write, and costs memory only for what is not read. */
#include "collect/processes/ring_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/ring_terms.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"
#include "scene.h"

#define MIB_WORDS (1ULL << 17)

static const struct {
	uint32_t rate_hz, processors;
	uint64_t words;
} sizes[] = {
	{ 1000, 0, MIB_WORDS },        { 1, 1, MIB_WORDS },
	{ 1000, 2, 2 * MIB_WORDS },    { 1000, 8, 8 * MIB_WORDS },
	{ 1000, 64, 64 * MIB_WORDS },  { 10000, 2, 32 * MIB_WORDS },
	{ 10000, 64, 64 * MIB_WORDS }, { 50000, 4096, 64 * MIB_WORDS },
};

static void a_ring_has_room_for_two_seconds_of_all_processors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const uint64_t words = ring_memory_words(sizes[i].rate_hz, sizes[i].processors);

		assert_int_equal(words, sizes[i].words);
		assert_in_range(words, RING_WORDS_MIN, RING_WORDS_MAX);
	}
}

static size_t memory_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (size_t)st.st_blocks * 512;
}

/* A ring in a file, as the recorder makes one, in the place of the scene's. */
static int replace_ring(struct image *image, uint64_t words)
{
	const size_t bytes = ring_words_end(words);
	int fd = memfd_create("ring", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	munmap(image->ring, image->ring_bytes);
	image->ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	image->ring_bytes = bytes;
	image->ring->word_count = image->ring_words = words;
	ring_view_begin(image);
	return fd;
}

static void what_was_read_costs_no_memory(void **state)
{
	struct scene *scene = *state;
	struct image *image = scene->image;
	int fd = replace_ring(image, MIB_WORDS);

	/* Some rounds around the ring. */
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 1000; i++)
			put_sample(image->ring, 77, START_NS + 1, 0, 0x1000);
		assert_int_equal(pump_image(&scene->pump, image, pump_mark(image), 0),
				 7000 * 100 / MIB_WORDS);
		assert_true(memory_of(fd) <= 2 * RING_MEMORY_PIECE_WORDS * sizeof(u64));
	}
	assert_int_equal(scene->pump.samples, 40000);
	close(fd);
}

static void what_was_not_read_stays(void **state)
{
	struct scene *scene = *state;
	struct image *image = scene->image;
	int fd = replace_ring(image, MIB_WORDS);

	/* Over the end of the ring, and what is written lies behind what is read. */
	for (int round = 0; round < 9; round++) {
		for (int i = 0; i < 15000; i++)
			put_sample(image->ring, 77, START_NS + 1, 0, 0x1000);
		const uint64_t mark = pump_mark(image);

		pump_image(&scene->pump, image, mark - 70000, 0);
		pump_image(&scene->pump, image, mark, 0);
	}
	assert_int_equal(scene->pump.samples, 9 * 15000);
	assert_int_equal(image->ring->lost_samples, 0);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_has_room_for_two_seconds_of_all_processors),
		TEST(what_was_read_costs_no_memory),
		TEST(what_was_not_read_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
