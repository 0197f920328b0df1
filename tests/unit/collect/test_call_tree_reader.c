/*
 * From a table of traced calls into the recording; the table is the target's to write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/error.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/events/sideband_event.h"
#include "collect/calls/tree_reader.h"
#include "collect/processes/known_calls.h"
#include "collect/processes/tree.h"
#include "record/reader.h"
#include "record/writer.h"
#include "scene.h"

#define TID     4242
#define FIRST   TRACE_CHUNK_NODES /* node */
#define NODES   (TRACE_CHUNKS * TRACE_CHUNK_NODES)
#define LONG_NS (25ULL * 24 * 3600 * 1000000000)
#define KEY(n)  (RING_INTERPRETED | (u64)(n) << RING_INSTRUCTION_BITS)

static struct trace_area *area;
static struct call_tree_reader_terms terms;

static int setup(void **state)
{
	if (scene_setup(state) < 0)
		return -1;
	struct scene *scene = *state;

	area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return -1;
	terms = (struct call_tree_reader_terms){ .start_ns = monotonic_ns() - 1000000,
						 .start_ticks = ticks_now() - 1000000,
						 .has_sideband = true };
	scene->image->calls = known_calls_new(area);
	return 0;
}

static int teardown(void **state)
{
	munmap(area, sizeof *area);
	return scene_teardown(state);
}

/* A thread has taken the first slot, and the first chunk with it. */
static void begin_thread(void)
{
	area->threads[0] = (struct trace_thread){ .state = TRACE_THREAD_TAKEN,
						  .tid = TID,
						  .first_ticks = ticks_now() };
	area->owners[1] = 1;
	area->nodes[FIRST] = (struct trace_node){ .key = TRACE_OUTSIDE, .self_ticks = 5 };
}

static void put_node(u32 node, u32 parent, u64 key, u64 calls)
{
	area->nodes[node] = (struct trace_node){
		.key = key,
		.parent = parent,
		.depth = (u16)(parent < NODES ? area->nodes[parent].depth + 1 : 1),
		.calls = calls,
		.self_ticks = 1000 * calls,
		.shortest_ticks = 1,
		.longest_ticks = 2
	};
}

struct counted {
	uint64_t calls, rows, outside;
	uint32_t deepest_parent; /* of the stack of the row read last */
};

static int count(void *context, const struct recording_calls *row)
{
	struct counted *counted = context;

	counted->calls += row->calls;
	counted->rows++;
	counted->outside += row->stack == 0;
	return 0;
}

static struct counted read_back(struct scene *scene)
{
	struct recording_reader *reader = NULL;
	struct counted counted = { 0 };
	struct error err = { "" };

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_calls(reader, count, &counted, &err), &err);
	recording_reader_close(reader);
	return counted;
}

static int keep_cost(void *context, const struct recording_cost *row)
{
	struct recording_cost *cost = context;

	*cost = *row;
	return 0;
}

static struct recording_cost cost_read_back(struct scene *scene)
{
	struct recording_reader *reader = NULL;
	struct recording_cost cost = { 0 };
	struct error err = { "" };

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_cost(reader, keep_cost, &cost, &err), &err);
	recording_reader_close(reader);
	return cost;
}

static void check_ratio(int64_t is, int64_t was, double expected)
{
	assert_in_range((uint64_t)((double)is / (double)was * 1000),
			(uint64_t)(expected * 1000) - 2, (uint64_t)(expected * 1000) + 2);
}

static void costs_are_those_of_the_pace_that_the_program_ran_at(void **state)
{
	struct scene *scene = *state;

	area->costs[TRACE_KIND_PYTHON] = (struct trace_cost){ .inside = 400000,
							      .outside = 600000,
							      .spread = 100000,
							      .stretch_permille = 1000,
							      .is_known = 1,
							      .burst_ticks = 1000 };
	/* So long ago that a wait between two readings does not change the rate. */
	terms.start_ns = monotonic_ns() - LONG_NS;
	terms.start_ticks = ticks_now() - LONG_NS;
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	const struct recording_cost calibrated = cost_read_back(scene);

	assert_int_equal(calibrated.pace_permille, RECORDING_UNKNOWN);
	/* The rate of the counter is measured in each reading. */
	check_ratio(calibrated.outside_ps, calibrated.inside_ps, 1.5);
	check_ratio(calibrated.spread_ps, calibrated.inside_ps, 0.25);
	area->burst_ticks = 10 * 1100;
	area->burst_count = 10;
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	const struct recording_cost mixed = cost_read_back(scene);

	/* A tenth of the time or so at the other pace. */
	assert_int_equal(mixed.pace_permille, 1100);
	assert_in_range((uint64_t)(mixed.inside_ps * 100 / calibrated.inside_ps), 95, 125);
	check_ratio(mixed.outside_ps, mixed.inside_ps, 1.5);
	check_ratio(mixed.spread_ps, mixed.inside_ps, 0.25 + 2.5 * 0.4 * (1 - 1 / 1.1));
	area->burst_ticks = 11 * 1500;
	area->burst_count = 11;
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	const struct recording_cost slower = cost_read_back(scene);

	assert_int_equal(slower.id, calibrated.id);
	assert_in_range((uint64_t)(slower.inside_ps * 100 / calibrated.inside_ps), 120, 180);
	check_ratio(slower.outside_ps, slower.inside_ps, 1.5);
	/* A third off, of which 0.4 are doubted, of the call's 2.5 times the inside. */
	check_ratio(slower.spread_ps, slower.inside_ps, 0.25 + 2.5 * 0.4 / 3);
	/* What could not have been measured is not believed. */
	area->burst_ticks = UINT64_MAX;
	area->burst_count = 12;
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	assert_in_range(
		(uint64_t)(cost_read_back(scene).inside_ps * 100 / calibrated.inside_ps), 200,
		300);
}

static void calls_are_written_and_replaced(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	put_node(FIRST + 1, FIRST, KEY(1), 3);
	put_node(FIRST + 2, FIRST + 1, KEY(2), 10);
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	struct counted counted = read_back(scene);

	assert_int_equal(counted.calls, 13);
	assert_int_equal(counted.rows, 3);
	assert_int_equal(counted.outside, 1);
	area->nodes[FIRST + 2].calls = 20;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	counted = read_back(scene);
	assert_int_equal(counted.calls, 23);
	assert_int_equal(counted.rows, 3);
	assert_int_equal(scene->image->calls->calls, 23);
}

static void a_callee_without_a_name_waits_for_it(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	put_node(FIRST + 1, FIRST, KEY(1), 3);
	put_node(FIRST + 2, FIRST, 0, 5);
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	assert_int_equal(read_back(scene).calls, 0);
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_int_equal(read_back(scene).calls, 3 + 5);
}

/*
 * Each with a caller that waits for its name.  Looked for from each of them anew, this takes 10^10
 * steps.
 */
static void callers_are_looked_for_once_in_each_reading(void **state)
{
	struct scene *scene = *state;
	const u32 deep = 1U << 16;

	begin_thread();
	for (u32 chunk = 2; chunk <= 1 + deep / TRACE_CHUNK_NODES; chunk++)
		area->owners[chunk] = 1;
	put_node(FIRST + 1, FIRST, 0, 1);
	for (u32 i = 2; i < deep; i++)
		put_node(FIRST + i, FIRST + i - 1, KEY(1 + i % 7), 1);
	for (int i = 0; i < 5; i++)
		call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	assert_int_equal(read_back(scene).calls, 0);
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_int_equal(read_back(scene).calls, deep - 1);
}

static void a_thread_that_ended_gives_back_what_it_had(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	area->chunks_taken = 1;
	area->threads_taken = 1;
	put_node(FIRST + 1, FIRST, KEY(1), 3);
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	assert_int_equal(area->owners[1], 1);
	image_find_thread(scene->image, TID)->end_ns = monotonic_ns();
	call_tree_reader_read(scene->image, &scene->pump, &terms, false);
	assert_int_equal(area->owners[1], 0);
	assert_int_equal(area->threads[0].state, TRACE_THREAD_FREE);
	assert_int_equal(area->chunks_taken, 0);
	assert_int_equal(area->threads_taken, 0);
	assert_int_equal(read_back(scene).calls, 3);
}

/* Shared memory is faster than the kernel's word. */
static void a_thread_seen_before_its_creation_is_reported_keeps_what_it_has(void **state)
{
	struct scene *scene = *state;
	struct sideband_event event = { .kind = SIDEBAND_FORK, .tid = TID };
	struct tree tree;

	tree_init(&tree, scene->writer, terms.start_ns);
	struct image *image = tree_add(&tree, 4000, NULL, terms.start_ns);

	image->calls = known_calls_new(area);
	image->running_threads = 1;
	event.pid = event.parent_pid = 4000;
	for (int life = 0; life < 2; life++) {
		event.time_ns = monotonic_ns();
		begin_thread();
		call_tree_reader_read(image, &scene->pump, &terms, false);
		assert_int_equal(area->threads[0].state, TRACE_THREAD_TAKEN);
		event.kind = SIDEBAND_FORK;
		tree_take(&tree, &event);
		call_tree_reader_read(image, &scene->pump, &terms, false);
		assert_int_equal(area->owners[1], 1);
		assert_int_equal(area->threads[0].state, TRACE_THREAD_TAKEN);
		/* Long ago, for the next thread with that tid. */
		event.kind = SIDEBAND_EXIT;
		tree_take(&tree, &event);
		image_find_thread(image, TID)->end_ns = terms.start_ns - 1000000000;
		call_tree_reader_read(image, &scene->pump, &terms, false);
		assert_int_equal(area->threads[0].state, TRACE_THREAD_FREE);
	}
	tree_close(&tree);
}

static void callers_that_make_no_sense_do_no_harm(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	put_node(FIRST + 1, FIRST + 2, KEY(1), 1); /* each other's caller */
	put_node(FIRST + 2, FIRST + 1, KEY(2), 1);
	put_node(FIRST + 3, FIRST + 3, KEY(3), 1); /* its own */
	put_node(FIRST + 4, 0xffffffff, KEY(4), 1);
	put_node(FIRST + 5, FIRST, KEY(5), ~0ULL);
	area->nodes[FIRST + 4].self_ticks = ~0ULL;
	area->owners[2] = 0xffffffff;
	area->threads[1].state = 77;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_in_range(read_back(scene).calls, 0, 4);
}

static void a_node_of_more_time_than_went_by_is_left_out_alone(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	put_node(FIRST + 1, FIRST, KEY(1), 3);
	put_node(FIRST + 2, FIRST, KEY(2), 1ULL << 40);
	put_node(FIRST + 3, FIRST, KEY(3), 1);
	area->nodes[FIRST + 3].self_ticks = 1ULL << 50;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_int_equal(read_back(scene).calls, 3);
	assert_int_equal(scene->image->trust.doubtful, 2);
}

static void a_circle_of_callers_is_no_tree(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	for (u32 i = 1; i < TRACE_CHUNK_NODES; i++) {
		put_node(FIRST + i, FIRST + i % (TRACE_CHUNK_NODES - 1) + 1, KEY(i), 1);
		area->nodes[FIRST + i].depth = 7;
	}
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_int_equal(read_back(scene).calls, TRACE_CHUNK_NODES - 1);
}

static void costs_that_no_call_has_are_left_out(void **state)
{
	struct scene *scene = *state;
	const struct trace_cost sound = { .inside = 400,
					  .stretch_permille = 1000,
					  .is_known = 1 };

	area->burst_ticks = ~0ULL;
	area->burst_count = 1;
	area->costs[TRACE_KIND_PYTHON] = sound;
	area->costs[TRACE_KIND_RUBY] = sound;
	area->costs[TRACE_KIND_RUBY].spread = ~0U;
	area->costs[TRACE_KIND_RUBY].outside = 0x7fffffff;
	area->costs[TRACE_KIND_MCOUNT] = sound;
	area->costs[TRACE_KIND_MCOUNT].stretch_permille = 0;
	area->costs[TRACE_KIND_FENTRY] = sound;
	area->costs[TRACE_KIND_FENTRY].stretch_permille = ~0U;
	area->costs[TRACE_KIND_COUNT] = sound;
	area->costs[TRACE_KIND_COUNT].inside = -0x7fffffff;
	/* A tick is a hundred seconds. */
	terms.start_ns = monotonic_ns() - LONG_NS;
	terms.start_ticks = ticks_now() - 1;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	cost_read_back(scene);
	assert_in_range(scene->image->trust.doubtful, 3, 5);
}

static void a_longest_call_that_is_not_believed_is_not_known(void **state)
{
	struct scene *scene = *state;

	begin_thread();
	put_node(FIRST + 1, FIRST, KEY(1), 3);
	area->nodes[FIRST + 1].shortest_ticks = 1000000;
	area->nodes[FIRST + 1].longest_ticks = ~0ULL >> 1;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_int_equal(read_back(scene).calls, 3);
}

static void more_time_than_there_can_be_is_not_written(void **state)
{
	struct scene *scene = *state;

	/* A recording of 25 days. */
	terms.start_ns -= LONG_NS;
	terms.start_ticks -= LONG_NS;
	begin_thread();
	for (u32 i = 1; i < 600; i++) {
		put_node(FIRST + i, FIRST, KEY(i), 1);
		area->nodes[FIRST + i].self_ticks = 20ULL * 24 * 3600 * 1000000000;
	}
	for (u32 i = 2; i < 12; i++)
		area->owners[i] = 1;
	call_tree_reader_read(scene->image, &scene->pump, &terms, true);
	assert_in_range(read_back(scene).calls, 1, 599);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_are_written_and_replaced),
		TEST(costs_are_those_of_the_pace_that_the_program_ran_at),
		TEST(a_callee_without_a_name_waits_for_it),
		TEST(callers_are_looked_for_once_in_each_reading),
		TEST(a_thread_that_ended_gives_back_what_it_had),
		TEST(a_thread_seen_before_its_creation_is_reported_keeps_what_it_has),
		TEST(callers_that_make_no_sense_do_no_harm),
		TEST(a_node_of_more_time_than_went_by_is_left_out_alone),
		TEST(a_circle_of_callers_is_no_tree),
		TEST(costs_that_no_call_has_are_left_out),
		TEST(a_longest_call_that_is_not_believed_is_not_known),
		TEST(more_time_than_there_can_be_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
