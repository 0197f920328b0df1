#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/walk_status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/stacks/stacks.h"
#include "record/reader.h"
#include "record/writer.h"

static void a_stack_arrives_outermost_first_with_its_leaf_last(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	place(scene, 0x10000, 0x20000, "/made", 0);
	put_stack(ring, 5, 0x10100, 0x10200);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	put_sample(ring, 77, START_NS + 20, 5, 0x10050);
	pump_all(scene, 0);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.weight_ns, 2000);
	assert_int_equal(seen.stacks[0], seen.stacks[1]);
	uint32_t leaf = seen.stacks[0], inner = seen.parents[leaf], outer = seen.parents[inner];

	assert_int_equal(seen.addresses[seen.frames[leaf]], 0x50);
	assert_int_equal(seen.addresses[seen.frames[inner]], 0x100);
	assert_int_equal(seen.addresses[seen.frames[outer]], 0x200);
	assert_int_equal(seen.parents[outer], 0);
}

static void the_same_addresses_mean_another_module_in_another_era(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	place(scene, 0x10000, 0x20000, "/one", 0);
	place(scene, 0x10000, 0x20000, "/two", START_NS + 100);
	put_stack(ring, 5, 0x10100, 0x10200);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	put_sample(ring, 77, START_NS + 100, 5, 0x10050);
	put_sample(ring, 77, START_NS + 20, 5, 0x10050);
	pump_all(scene, 0);
	struct seen seen = look(scene);

	assert_int_equal(seen.stacks[0], seen.stacks[2]);
	assert_int_not_equal(seen.stacks[0], seen.stacks[1]);
	assert_int_not_equal(seen.modules[seen.frames[seen.stacks[0]]],
			     seen.modules[seen.frames[seen.stacks[1]]]);
}

static void a_sample_whose_stack_never_came_says_so(void **state)
{
	struct scene *scene = *state;

	put_sample(scene->image->ring, 77, START_NS + 10, 99, 0x10050);
	pump_all(scene, 0);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 1);
	assert_int_equal(seen.endings[0], WALK_NO_STACK);
}

/* A thread that ends: what it burned since its last sample, and the function it began with. */
static void put_end(struct ring_header *ring, u32 tid, u64 start_function, u64 weight_ns,
		    u64 covered_ns)
{
	const u64 what = WALK_NO_SAMPLE | RING_SAMPLE_END << 8;

	put(ring, RING_SAMPLE,
	    (const u64[]){ 0, tid | what << 32, START_NS + 10, 0, start_function, weight_ns,
			   covered_ns },
	    7);
}

static void the_end_of_a_thread_stands_below_the_function_it_began_with(void **state)
{
	struct scene *scene = *state;

	place(scene, 0x10000, 0x20000, "/made", 0);
	put_end(scene->image->ring, 78, 0x10050, 250, 250);
	put_end(scene->image->ring, 79, 0, 30, 30);
	pump_all(scene, 0);
	assert_int_equal(scene->pump.samples, 0);
	assert_int_equal(scene->image->samples, 0);
	assert_int_equal(scene->image->ends_booked, 2);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.weight_ns, 280);
	assert_int_equal(seen.endings[0], WALK_NO_SAMPLE);
	assert_int_equal(seen.addresses[seen.frames[seen.parents[seen.stacks[0]]]], 0x50);
	assert_int_equal(seen.parents[seen.stacks[1]], 0);
	assert_int_equal(seen.frames[seen.stacks[0]], seen.frames[seen.stacks[1]]);
}

static void what_a_sample_does_not_stand_for_is_no_samples(void **state)
{
	struct scene *scene = *state;

	place(scene, 0x10000, 0x20000, "/made", 0);
	scene->image->has_kernel_samples = true;
	/* Of 5,000 ns since the thread's last one it stands for 1,000. */
	put_sample(scene->image->ring, 77, START_NS + 10, 0, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(scene->pump.samples, 1);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.weight_ns, 5000);
	assert_int_equal(seen.endings[0], WALK_NO_SAMPLE);
}

/* A sample of the thread behind which others were lost. */
static void put_behind_lost(struct ring_header *ring, u32 tid, u64 weight_ns, u64 covered_ns)
{
	const u64 what = RING_SAMPLE_BEHIND_LOST << 8;

	put(ring, RING_SAMPLE,
	    (const u64[]){ 0, tid | what << 32, START_NS + 10, 0, 0x10050, weight_ns,
			   covered_ns },
	    7);
}

static void what_lost_samples_stood_for_is_a_row_of_its_own(void **state)
{
	struct scene *scene = *state;

	place(scene, 0x10000, 0x20000, "/made", 0);
	scene->image->has_kernel_samples = true;
	put_sample(scene->image->ring, 77, START_NS + 10, 0, 0x10050);
	put_behind_lost(scene->image->ring, 77, 1000, 9000);
	pump_all(scene, 0);
	assert_int_equal(scene->image->left_ns, 4000 + 3000);
	assert_int_equal(scene->image->lost_ns, 3000);
	struct seen seen = look(scene);

	/* [not sampled], a sample, [lost], a sample. */
	assert_int_equal(seen.samples, 4);
	assert_int_equal(seen.weight_ns, 9000);
	assert_int_equal(seen.endings[0], WALK_NO_SAMPLE);
	assert_int_equal(seen.endings[2], WALK_NO_SAMPLE);
	assert_int_not_equal(seen.stacks[0], seen.stacks[2]);
}

static void where_timers_trigger_lost_time_is_known_too(void **state)
{
	struct scene *scene = *state;

	place(scene, 0x10000, 0x20000, "/made", 0);
	scene->image->ring->flags |= RING_TIMER;
	scene->image->ring_fixed.flags |= RING_TIMER;
	put_behind_lost(scene->image->ring, 77, 1000, 9000);
	pump_all(scene, 0);
	assert_int_equal(scene->image->lost_ns, 8000);
}

static void where_events_count_user_mode_the_rest_is_kernel_time(void **state)
{
	struct scene *scene = *state;

	place(scene, 0x10000, 0x20000, "/made", 0);
	put_sample(scene->image->ring, 77, START_NS + 10, 0, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(look(scene).samples, 1);
}

static void a_full_store_of_stacks_begins_a_new_epoch_that_the_agent_sees(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->image->serial = 9;
	scene->pump.rows.epochs.limit = 3;
	for (u64 round = 0; round < 10; round++) {
		pump_begin_round(&scene->pump);
		pump_all(scene, 0);
		/* Full in each round, and emptied in each second one at most. */
		assert_int_equal(ring->epoch, (round + 1) / 2 << 32 | 9);
		for (u64 i = 0; i < 5; i++)
			put_stack(ring, 100 * round + i + 1, 0x10100 + 100 * round + i, 0x1);
		pump_all(scene, 0);
		assert_in_range(scene->pump.rows.epochs.young.count, 1, 10);
		assert_in_range(scene->pump.rows.epochs.old.count, 0, 10);
	}
	assert_null(stacks_find(&scene->pump.rows.epochs, scene->image->row, 1));
}

static void stacks_are_bounded_by_their_size_too(void **state)
{
	struct scene *scene = *state;

	scene->pump.rows.epochs.limit_bytes = 64;
	put_stack(scene->image->ring, 1, 0x10100, 0x10200);
	put_stack(scene->image->ring, 2, 0x10100, 0x10300);
	pump_begin_round(&scene->pump);
	pump_all(scene, 0);
	pump_begin_round(&scene->pump);
	assert_int_equal(scene->pump.rows.epochs.number, 1);
}

static void a_sample_that_was_on_its_way_over_an_epoch_has_its_stack(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->pump.rows.epochs.limit = 1;
	place(scene, 0x10000, 0x20000, "/made", 0);
	put_stack(ring, 5, 0x10100, 0x10200);
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_begin_round(&scene->pump);
	pump_all(scene, 0);
	pump_begin_round(&scene->pump);
	put_sample(ring, 77, START_NS + 20, 5, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(scene->pump.rows.epochs.number, 1);
	/* As of the new epoch: the same content by another hash is the same row. */
	put_stack(ring, 6, 0x10100, 0x10200);
	put_sample(ring, 77, START_NS + 30, 6, 0x10050);
	pump_begin_round(&scene->pump);
	pump_all(scene, 0);
	const struct seen seen = look(scene);

	assert_int_equal(seen.samples, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(seen.endings[i], WALK_COMPLETE);
		assert_int_equal(seen.stacks[i], seen.stacks[0]);
	}
}

static void a_stack_that_was_forgotten_is_reported_as_lost(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	scene->pump.rows.epochs.limit = 1;
	put_stack(ring, 5, 0x10100, 0x10200);
	for (u64 round = 0; round < 6; round++) {
		pump_begin_round(&scene->pump);
		pump_all(scene, 0);
		put_stack(ring, 100 + round, 0x10300, 0x10200);
	}
	put_sample(ring, 77, START_NS + 10, 5, 0x10050);
	pump_all(scene, 0);
	const struct seen seen = look(scene);

	assert_int_equal(seen.samples, 1);
	assert_int_equal(seen.endings[0], WALK_NO_STACK);
}

static int see_thread(void *context, const struct recording_thread *thread)
{
	uint32_t *threads = context;

	++*threads;
	if (thread->id > 1)
		assert_int_equal(thread->end_ns, 20 * (int64_t)thread->id);
	return 0;
}

static void threads_that_ended_are_written_and_forgotten(void **state)
{
	struct scene *scene = *state;
	const uint32_t count = 5000;

	image_thread_at(scene->image, 77, START_NS, scene->writer);
	for (uint32_t i = 2; i <= count; i++) {
		put_sample(scene->image->ring, 1000 + i % 700, START_NS + 20 * i - 10, 0,
			   0x10050);
		pump_begin_round(&scene->pump);
		pump_all(scene, 0);
		struct image_thread *thread =
			image_find_thread(scene->image, (int)(1000 + i % 700));

		assert_int_equal(thread->row, i);
		thread->end_ns = START_NS + 20 * i;
		scene->image->ended_threads++;
		image_forget_tid(scene->image, thread->tid);
		assert_in_range(scene->image->thread_count, 1, 1000);
	}
	assert_int_equal(scene->image->threads[0].tid, 77);
	/* What is left is written when the image ends. */
	scene->pump.round_ns = UINT64_MAX;
	scene->image->ended_threads += 1000;
	pump_all(scene, 0);
	assert_int_equal(scene->image->thread_count, 1);
	assert_int_equal(scene->image->forgotten_covered_ns, 5000 * ((uint64_t)count - 1));

	struct recording_reader *reader;
	struct error err;
	uint32_t threads = 0;

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_thread(reader, see_thread, &threads, &err), &err);
	recording_reader_close(reader);
	assert_int_equal(threads, count);
}

static void an_uncommitted_record_is_waited_for_while_the_program_runs(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	u64 position = 0;

	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	put_sample(ring, 77, START_NS + 10, 0, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(scene->image->samples, 0);
	assert_int_equal(ring->tail, 0);
	/* It comes late, and nothing is lost. */
	for (u64 i = 1; i < 7; i++)
		ring_put(ring, ring->word_count, position, i, i == 5 ? 1000 : 0);
	ring_commit(ring, ring->word_count, position, 7, RING_SAMPLE);
	pump_all(scene, 0);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.lost, 0);
}

/* Of 100 ms, with a record at the tail that is being written, and another one behind it. */
static void rounds_behind_a_stall(struct scene *scene, uint32_t rounds, bool others_write)
{
	for (uint32_t i = 0; i < rounds; i++) {
		scene->pump.round_ns += 100000000;
		if (others_write)
			put_sample(scene->image->ring, 77, START_NS + 10, 0, 0x10050);
		pump_all(scene, 0);
	}
}

static void a_process_that_stands_still_loses_nothing(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	u64 position = 0;

	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	rounds_behind_a_stall(scene, 1000, false);
	assert_int_equal(ring->tail, 0);
	/* Nor is it lost where the recorder stood still, too. */
	put_sample(ring, 77, START_NS + 10, 0, 0x10050);
	scene->pump.round_ns += 60000000000;
	pump_all(scene, 0);
	assert_int_equal(ring->tail, 0);
	for (u64 i = 1; i < 7; i++)
		ring_put(ring, ring->word_count, position, i, i == 5 ? 1000 : 0);
	ring_commit(ring, ring->word_count, position, 7, RING_SAMPLE);
	rounds_behind_a_stall(scene, 1, false);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.lost, 0);
}

static void a_thread_that_ends_in_the_writing_holds_the_others_up_for_ten_seconds(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	u64 position = 0;

	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	rounds_behind_a_stall(scene, 100, true);
	assert_int_equal(ring->tail, 0);
	rounds_behind_a_stall(scene, 1, true);
	assert_int_equal(ring->tail, ring->head);
	/* The next one has ten of its own. */
	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	rounds_behind_a_stall(scene, 100, true);
	assert_int_equal(ring->tail, position);
	rounds_behind_a_stall(scene, 1, true);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 202);
	assert_int_equal(seen.lost, 2);
}

static void a_ring_that_gets_full_waits_for_a_second(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	u64 position = 0;

	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	while (ring_has_room(ring, ring->word_count, 7))
		put_sample(ring, 77, START_NS + 10, 0, 0x10050);
	rounds_behind_a_stall(scene, 10, false);
	assert_int_equal(ring->tail, 0);
	rounds_behind_a_stall(scene, 1, false);
	assert_int_equal(ring->tail, ring->head);
}

static void a_killed_writer_costs_one_record_not_the_ring(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	u64 position = 0;

	put_sample(ring, 77, START_NS + 10, 0, 0x10050);
	assert_int_equal(ring_reserve(ring, ring->word_count, 7, &position), 0);
	put_sample(ring, 77, START_NS + 20, 0, 0x10050);
	put_sample(ring, 77, START_NS + 30, 0, 0x10050);
	pump_all(scene, 1);
	struct seen seen = look(scene);

	assert_int_equal(seen.samples, 3);
	assert_int_equal(seen.lost, 1);
}

static void a_hostile_head_moves_nothing(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	ring->head = 1ULL << 60;
	assert_int_equal(pump_all(scene, 1), 0);
	ring->word_count = 1; /* the reader has its own copy */
	ring->head = 3;
	pump_all(scene, 1);
	assert_int_equal(scene->image->samples, 0);
}

static void records_of_odd_lengths_and_unknown_types_are_passed_over(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;
	const u64 words[16] = { 0 };

	put(ring, RING_SAMPLE, words, 2);
	put(ring, RING_SAMPLE, words, 16);
	put(ring, RING_STACK, words, 1);
	put(ring, 200, words, 9);
	put(ring, RING_FLUSH, words, 1);
	put_sample(ring, 77, START_NS + 10, 0, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(scene->image->samples, 1);
	assert_int_equal(ring->tail, ring->head);
}

/* Where the kernel is not asked: every processor, all the time. */
static u64 most_burned_ns(void)
{
	return monotonic_ns() * (u64)get_nprocs_conf() / 64 * 66;
}

static void an_impossible_weight_counts_as_one_period(void **state)
{
	struct scene *scene = *state;

	put(scene->image->ring, RING_SAMPLE,
	    (const u64[]){ 0, 77, START_NS, 0, 0x10050, UINT64_MAX, UINT64_MAX }, 7);
	pump_all(scene, 0);
	assert_int_equal(scene->image->sampled_ns, 1000);
	assert_int_equal(scene->image->threads[0].covered_ns, 0);
}

static void claims_beyond_what_can_be_burned_end_the_trust(void **state)
{
	const u64 weight_ns = 29ULL * 24 * 3600 * 1000000000;
	struct scene *scene = *state;

	for (int i = 0; i < 100; i++)
		put(scene->image->ring, RING_SAMPLE,
		    (const u64[]){ 0, 77, START_NS, 0, 0x10050, weight_ns, 0 }, 7);
	pump_all(scene, 0);
	put_sample(scene->image->ring, 77, START_NS, 0, 0x10050);
	pump_all(scene, 1);
	assert_true(scene->image->trust.is_lost);
	assert_non_null(scene->image->unentered_reason);
	const struct seen seen = look(scene);

	assert_in_range(seen.samples, 1, 100);
	assert_in_range(seen.weight_ns, 1, most_burned_ns());
}

/* This process's clock shows milliseconds; the events, here a file, have so much. */
static void count_by_events(struct image *image, u64 burned_ns)
{
	const int fd = memfd_create("count", MFD_CLOEXEC);

	assert_int_equal(write(fd, &burned_ns, sizeof burned_ns), sizeof burned_ns);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	image->pid = getpid();
	image->state = IMAGE_ENTERED;
	image->opened_cpu_ns = 1;
	image->events.fds =
		array_grow(NULL, 0, &image->events.capacity, sizeof *image->events.fds);
	image->events.fds[image->events.count++] = fd;
}

static void put_weight(struct scene *scene, u64 weight_ns)
{
	put(scene->image->ring, RING_SAMPLE,
	    (const u64[]){ 0, 77, START_NS, 0, 0x10050, weight_ns, 0 }, 7);
}

static void what_the_host_stole_is_the_events_to_know(void **state)
{
	const u64 burned_ns = 1000ULL * 1000000000;
	struct scene *scene = *state;
	struct image *image = scene->image;

	count_by_events(image, burned_ns);
	put_weight(scene, burned_ns / 2);
	pump_all(scene, 0);
	assert_int_equal(image->sampled_ns, burned_ns / 2);
	assert_int_equal(image->trust.doubtful, 0);
	put_weight(scene, 2 * burned_ns);
	pump_all(scene, 1);
	assert_int_equal(image->sampled_ns, burned_ns / 2 + 1000);
	assert_int_not_equal(image->trust.doubtful, 0);
}

static void traps_that_parent_and_child_exchange_are_bounded_and_not_doubted(void **state)
{
	const u64 burned_ns = 1000ULL * 1000000000;
	const u64 most_ns = burned_ns + burned_ns / 64 + 200000 + 2 * 1000;
	struct scene *scene = *state;
	struct image *image = scene->image;

	count_by_events(image, burned_ns);
	put_weight(scene, most_ns - 500);
	for (int i = 0; i < 10; i++)
		put_weight(scene, 5000);
	pump_all(scene, 0);
	assert_true(image->sampled_ns <= most_ns + 1);
	assert_int_equal(image->trust.doubtful, 0);
	put_weight(scene, 2 * burned_ns);
	pump_all(scene, 1);
	assert_true(image->sampled_ns <= most_ns + 1);
	assert_int_not_equal(image->trust.doubtful, 0);
}

static void times_are_within_the_recording(void **state)
{
	static const u64 times[] = { 0,
				     START_NS - 1,
				     START_NS,
				     1ULL << 62,
				     INT64_MAX,
				     UINT64_MAX,
				     (u64)INT64_MAX + START_NS + 1 };
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		put_sample(scene->image->ring, 77, times[i], 0, 0x10050);
	pump_all(scene, 1);
	/* One behind the other, from a batch that begins with any of them. */
	const struct seen seen = look(scene);

	assert_int_equal(seen.samples, sizeof times / sizeof *times);
	assert_true(seen.first_ns >= 0);
	assert_true(seen.last_ns <= (int64_t)(scene->pump.now_ns - START_NS));
	assert_int_equal(scene->image->trust.doubtful, 4);
}

static void a_header_that_has_changed_ends_the_trust(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	put_sample(ring, 77, START_NS, 0, 0x10050);
	pump_all(scene, 0);
	assert_false(scene->image->trust.is_lost);
	put_sample(ring, 77, START_NS, 0, 0x10050);
	ring->word_count *= 2;
	pump_all(scene, 0);
	assert_true(scene->image->trust.is_lost);
	assert_int_equal(look(scene).samples, 1);
}

static void no_thread_has_such_an_id(void **state)
{
	struct scene *scene = *state;

	put_sample(scene->image->ring, 0, START_NS, 0, 0x10050);
	put_sample(scene->image->ring, 0x80000000, START_NS, 0, 0x10050);
	put_sample(scene->image->ring, UINT32_MAX, START_NS, 0, 0x10050);
	pump_all(scene, 0);
	assert_int_equal(scene->image->samples, 3);
	assert_int_equal(scene->image->thread_count, 1);
	assert_int_equal(scene->image->threads[0].tid, 77);
}

static void thread_ids_that_are_made_up_take_bounded_memory(void **state)
{
	struct scene *scene = *state;

	for (u32 tid = 1; tid <= 100000; tid++) {
		put_sample(scene->image->ring, tid, START_NS, 0, 0x10050);
		pump_all(scene, 0);
	}
	assert_int_equal(scene->image->samples, 100000);
	assert_int_equal(scene->image->thread_count, 65536);
	assert_null(image_find_thread(scene->image, 100000));
}

static void what_the_agent_dropped_is_reported_once(void **state)
{
	struct scene *scene = *state;

	scene->image->ring->lost_samples = 3;
	pump_all(scene, 0);
	pump_all(scene, 0);
	scene->image->ring->lost_samples = 5;
	pump_all(scene, 0);
	scene->image->ring->lost_samples = UINT64_MAX;
	pump_all(scene, 0);
	assert_int_equal(look(scene).lost, 5);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_stack_arrives_outermost_first_with_its_leaf_last),
		SCENE(the_same_addresses_mean_another_module_in_another_era),
		SCENE(a_sample_whose_stack_never_came_says_so),
		SCENE(the_end_of_a_thread_stands_below_the_function_it_began_with),
		SCENE(what_a_sample_does_not_stand_for_is_no_samples),
		SCENE(what_lost_samples_stood_for_is_a_row_of_its_own),
		SCENE(where_timers_trigger_lost_time_is_known_too),
		SCENE(where_events_count_user_mode_the_rest_is_kernel_time),
		SCENE(a_full_store_of_stacks_begins_a_new_epoch_that_the_agent_sees),
		SCENE(stacks_are_bounded_by_their_size_too),
		SCENE(a_sample_that_was_on_its_way_over_an_epoch_has_its_stack),
		SCENE(a_stack_that_was_forgotten_is_reported_as_lost),
		SCENE(threads_that_ended_are_written_and_forgotten),
		SCENE(an_uncommitted_record_is_waited_for_while_the_program_runs),
		SCENE(a_process_that_stands_still_loses_nothing),
		SCENE(a_thread_that_ends_in_the_writing_holds_the_others_up_for_ten_seconds),
		SCENE(a_ring_that_gets_full_waits_for_a_second),
		SCENE(a_killed_writer_costs_one_record_not_the_ring),
		SCENE(a_hostile_head_moves_nothing),
		SCENE(records_of_odd_lengths_and_unknown_types_are_passed_over),
		SCENE(an_impossible_weight_counts_as_one_period),
		SCENE(claims_beyond_what_can_be_burned_end_the_trust),
		SCENE(what_the_host_stole_is_the_events_to_know),
		SCENE(traps_that_parent_and_child_exchange_are_bounded_and_not_doubted),
		SCENE(times_are_within_the_recording),
		SCENE(a_header_that_has_changed_ends_the_trust),
		SCENE(no_thread_has_such_an_id),
		SCENE(thread_ids_that_are_made_up_take_bounded_memory),
		SCENE(what_the_agent_dropped_is_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
