/* A writer that forgets rows it has not used lately writes them again, and nothing is lost. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The limits are the writer's own: hundreds of thousands of rows would show the same. */
#include "record/writer_state.h"

#define FUNCTIONS 50

static uint32_t add_chain(struct recording_writer *writer, uint32_t module, uint32_t leaf)
{
	uint32_t stack = 0;

	for (uint32_t depth = 0; depth < 3; depth++) {
		const struct recording_frame frame = {
			.module = module,
			.address = depth < 2 ? 0x10 + depth : 0x100 + leaf,
		};
		struct recording_stack row = { .parent = stack };

		assert_int_equal(recording_writer_add_frame(writer, &frame, &row.frame), 0);
		assert_int_equal(recording_writer_add_stack(writer, &row, &stack), 0);
	}
	return stack;
}

struct seen {
	uint64_t addresses[4096];
	uint32_t frames, stacks, leaves[FUNCTIONS];
	uint32_t parents[4096], frame_of[4096];
};

static int see_frame(void *context, const struct recording_frame *frame)
{
	struct seen *seen = context;

	seen->frames++;
	seen->addresses[frame->id] = frame->address;
	return 0;
}

static int see_stack(void *context, const struct recording_stack *stack)
{
	struct seen *seen = context;

	seen->stacks++;
	seen->parents[stack->id] = stack->parent;
	seen->frame_of[stack->id] = stack->frame;
	return 0;
}

static int see_sample(void *context, const struct recording_sample *sample)
{
	struct seen *seen = context;
	uint32_t stack = sample->stack;

	seen->leaves[seen->addresses[seen->frame_of[stack]] - 0x100]++;
	for (uint32_t depth = 2; depth-- > 0;) {
		stack = seen->parents[stack];
		assert_int_equal(seen->addresses[seen->frame_of[stack]], 0x10 + depth);
	}
	assert_int_equal(seen->parents[stack], 0);
	return 0;
}

static struct seen record_with(void **state, size_t limit)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	struct seen seen = { .frames = 0 };

	add_basics(writer, 1, 1);
	const uint32_t frames_before = writer->last_id[TABLE_FRAMES];
	const uint32_t stacks_before = writer->last_id[TABLE_STACKS];

	writer->frames.limit = writer->stacks.limit = limit;
	for (uint32_t i = 0; i < 10 * FUNCTIONS; i++) {
		const struct recording_sample sample = {
			.thread = 1,
			.stack = add_chain(writer, 1, i % FUNCTIONS),
			.weight_ns = 1000,
		};

		assert_int_equal(recording_writer_add_sample(writer, &sample), 0);
	}
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_frame(reader, see_frame, &seen, &err), &err);
	must(recording_reader_each_stack(reader, see_stack, &seen, &err), &err);
	must(recording_reader_each_sample(reader, see_sample, &seen, &err), &err);
	recording_reader_close(reader);
	seen.frames -= frames_before;
	seen.stacks -= stacks_before;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_int_equal(seen.leaves[i], 10);
	return seen;
}

static void what_fits_is_there_once(void **state)
{
	const struct seen seen = record_with(state, 1000);

	assert_int_equal(seen.frames, FUNCTIONS + 2);
	assert_int_equal(seen.stacks, FUNCTIONS + 2);
}

static void what_was_forgotten_is_written_again_but_what_is_used_is_not(void **state)
{
	const struct seen seen = record_with(state, 10);

	/* Each leaf is forgotten before it comes again; the two callers never are. */
	assert_int_equal(seen.frames, 10 * FUNCTIONS + 2);
	assert_int_equal(seen.stacks, 10 * FUNCTIONS + 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_fits_is_there_once),
		TEST(what_was_forgotten_is_written_again_but_what_is_used_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
