/*
 * test_ruby - control frames are known for what they are, and nothing else is taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_walked.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void frames_are_read_innermost_first(void **state)
{
	static const struct {
		uint8_t kind, is_last;
		uint64_t iseq, method, pc;
	} expected[] = {
		{ RUBY_FRAME_ISEQ, 0, ISEQ(3), METHOD(3), CODE(3) + 8 },
		{ RUBY_FRAME_ISEQ, 1, ISEQ(2), METHOD(1), CODE(2) + 32 },
		{ RUBY_FRAME_C, 0, 0, METHOD(2), 0 },
		{ RUBY_FRAME_ISEQ, 0, ISEQ(1), METHOD(1), CODE(1) + 24 },
		{ RUBY_FRAME_ISEQ, 1, ISEQ(0), 0, CODE(0) + 16 },
		{ RUBY_FRAME_BASE, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = make_program(&layout);
		const struct walked walked = walk(mem, &layout);

		assert_true(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
		assert_int_equal(walked.ends, RUBY_END);
		assert_int_equal(walked.count, COUNT(expected));
		for (size_t n = 0; n < COUNT(expected); n++) {
			const struct ruby_frame *frame = &walked.frames[n];

			assert_int_equal(frame->address, frame_at(&layout, 5 - (unsigned)n));
			assert_int_equal(frame->kind, expected[n].kind);
			assert_int_equal(frame->is_last, expected[n].is_last);
			assert_int_equal(frame->iseq, expected[n].iseq);
			assert_int_equal(frame->method, expected[n].method);
			assert_int_equal(frame->pc, expected[n].pc);
			assert_false(frame->is_repeated || frame->is_jitted);
		}
		free(mem);
	}
}

static void machine_code_is_known_by_where_it_returns(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_program(&layout);

	(void)state;
	put_word(mem, frame_at(&layout, 5) + layout.offsets.frame_jit_return, 0x7000);
	assert_true(walk(mem, &layout).frames[0].is_jitted);
	assert_false(walk(mem, &layout).frames[1].is_jitted);
	free(mem);
}

static void what_only_begins_a_stack_is_no_last_frame(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[4]);
	struct mem *mem = make_program(&layout);

	(void)state;
	/* An extension's Init function: a frame with FINISH, an iseq, and no pc. */
	put_env(mem, EP(4), 0, 0, MAGIC_TOP | IS_LOCAL | IS_FINISH);
	put_frame(mem, &layout, 4, ISEQ(2), 0, EP(4));
	/* What rb_vm_push_frame_fname() makes has no CFRAME. */
	put_env(mem, EP(3), 0, 0, MAGIC_DUMMY | IS_LOCAL | IS_FINISH);
	put_frame(mem, &layout, 3, ISEQ(2), 0, EP(3));
	const struct walked walked = walk(mem, &layout);

	assert_int_equal(walked.ends, RUBY_END);
	for (size_t i = 1; i <= 2; i++) {
		assert_int_equal(walked.frames[i].kind, RUBY_FRAME_BASE);
		assert_false(walked.frames[i].is_last);
	}
	free(mem);
}

static void a_block_in_c_has_no_name(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_program(&layout);
	struct ruby_code code;

	(void)state;
	put_env(mem, EP(3), METHOD(2), 0, MAGIC_IFUNC | IS_LOCAL | IS_CFRAME);
	const struct walked walked = walk(mem, &layout);

	assert_int_equal(walked.frames[2].kind, RUBY_FRAME_BLOCK_C);
	assert_true(ruby_code_read(mem, &layout, &walked.frames[2], &code) < 0);
	/* Nor has a method of no class. */
	put_env(mem, EP(3), 0, 0, MAGIC_CFUNC | IS_LOCAL | IS_CFRAME);
	assert_int_equal(walk(mem, &layout).frames[2].kind, RUBY_FRAME_BLOCK_C);
	free(mem);
}

static void a_rescue_clause_reports_its_frame(void **state)
{
	static const uint32_t types[] = { RUBY_ISEQ_RESCUE, RUBY_ISEQ_ENSURE };

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		const struct ruby_layout layout = layout_of(&generations[2]);
		struct mem *mem = make_program(&layout);

		put_iseq(mem, &layout, 3, types[i], "rescue in block in bar", ISEQ(2));
		put_env(mem, EP(5), 0, EP(4) | 1, MAGIC_RESCUE);
		const struct walked walked = walk(mem, &layout);

		assert_int_equal(walked.ends, RUBY_END);
		assert_false(walked.frames[0].is_repeated);
		assert_int_equal(walked.frames[0].method, METHOD(1));
		assert_true(walked.frames[1].is_repeated && walked.frames[1].is_last);
		for (size_t n = 2; n < walked.count; n++)
			assert_false(walked.frames[n].is_repeated);
		free(mem);
	}
}

/* Puts `count` environments around frame 5's, each outside of the one before. */
static void nest(struct mem *mem, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_env(mem, EP(5 + i), 0, EP(6 + i) | 3, MAGIC_BLOCK);
	put_env(mem, EP(5 + count), METHOD(3), 0, MAGIC_METHOD | IS_LOCAL);
}

/* Of frame 5, which calls another. */
static uint64_t callers_method(struct mem *mem, const struct ruby_layout *layout)
{
	put_env(mem, EP(40), METHOD(1), 0, MAGIC_METHOD | IS_LOCAL);
	put_frame(mem, layout, 6, ISEQ(1), CODE(1) + 8, EP(40));
	put_context(mem, layout, 6);
	const struct walked walked = walk(mem, layout);

	assert_int_equal(walked.ends, RUBY_END);
	return walked.frames[1].method;
}

static void a_method_is_found_behind_what_stands_before_it(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_program(&layout);

	(void)state;
	put_iseq(mem, &layout, 3, RUBY_ISEQ_BLOCK, "block in baz", ISEQ(1));
	/* In the outermost of many blocks; but not of endlessly many. */
	nest(mem, 15);
	assert_int_equal(callers_method(mem, &layout), METHOD(3));
	nest(mem, 16);
	assert_int_equal(callers_method(mem, &layout), 0);
	nest(mem, 0);
	assert_int_equal(callers_method(mem, &layout), METHOD(3));
	/* Behind special variables, in a method's own environment only. */
	put_word(mem, OBJECT(0), RUBY_IMEMO_SVAR);
	put_word(mem, OBJECT(0) + 8, METHOD(3));
	put_env(mem, EP(5), OBJECT(0), 0, MAGIC_METHOD | IS_LOCAL);
	assert_int_equal(callers_method(mem, &layout), METHOD(3));
	put_env(mem, EP(5), OBJECT(0), EP(6), MAGIC_BLOCK);
	put_env(mem, EP(6), METHOD(1), 0, MAGIC_METHOD | IS_LOCAL);
	assert_int_equal(callers_method(mem, &layout), METHOD(1));
	/* A cref is none, and neither is a block's own bmethod further out. */
	put_word(mem, OBJECT(1), RUBY_IMEMO(1));
	put_env(mem, EP(5), OBJECT(1), 0, MAGIC_CLASS | IS_LOCAL);
	assert_int_equal(callers_method(mem, &layout), 0);
	put_env(mem, EP(5), METHOD(1), EP(6), MAGIC_BLOCK);
	put_env(mem, EP(6), METHOD(3), 0, MAGIC_METHOD | IS_LOCAL);
	assert_int_equal(callers_method(mem, &layout), METHOD(1));
	free(mem);
}

static void an_environment_may_be_moving(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_program(&layout);

	(void)state;
	/* Foo#bar's is on the heap already; its block still names the old place. */
	put_env(mem, OBJECT(4), METHOD(1), 0, MAGIC_METHOD | IS_LOCAL | 4);
	put_word(mem, OBJECT(0), RUBY_IMEMO_ENV);
	put_word(mem, OBJECT(0) + 16, OBJECT(4));
	put_word(mem, EP(2), OBJECT(0));
	struct walked walked = walk(mem, &layout);

	assert_int_equal(walked.ends, RUBY_END);
	assert_int_equal(walked.frames[1].method, METHOD(1));
	assert_int_equal(walked.frames[3].method, METHOD(1));
	put_word(mem, frame_at(&layout, 2) + layout.offsets.frame_ep, OBJECT(4));
	walked = walk(mem, &layout);
	assert_int_equal(walked.frames[3].method, METHOD(1));
	/* Something else stands where the flags were. */
	put_word(mem, OBJECT(0), RUBY_T_STRING);
	assert_int_equal(walk(mem, &layout).frames[1].method, 0);
	/* It must not lead round in circles. */
	put_word(mem, OBJECT(0), RUBY_IMEMO_ENV);
	put_word(mem, OBJECT(0) + 16, EP(2));
	assert_int_equal(walk(mem, &layout).frames[1].method, 0);
	free(mem);
}

static void a_stack_may_have_no_frames(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_program(&layout);

	(void)state;
	put_word(mem, CONTEXT + layout.offsets.ec_frame, STACK_END);
	assert_true(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
	assert_int_equal(walk(mem, &layout).ends, RUBY_END);
	assert_int_equal(walk(mem, &layout).count, 0);
	free(mem);
}

static void only_a_context_is_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		const struct ruby_offsets *offsets = &layout.offsets;
		const uint64_t size = offsets->frame_size;
		const struct {
			const char *name;
			uint64_t address, word;
		} changes[] = {
			{ "no stack", CONTEXT + offsets->ec_stack, 0 },
			{ "a stack elsewhere", CONTEXT + offsets->ec_stack, NOWHERE },
			{ "an endless stack", CONTEXT + offsets->ec_stack_size, 1ULL << 40 },
			{ "no frame", CONTEXT + offsets->ec_frame, 0 },
			{ "a frame before the stack", CONTEXT + offsets->ec_frame,
			  STACK_END - (STACK_WORDS * 8 / size + 1) * size },
			{ "a frame behind it", CONTEXT + offsets->ec_frame, STACK_END + size },
			{ "half a frame", CONTEXT + offsets->ec_frame, STACK_END - size - 8 },
			{ "no thread", CONTEXT + offsets->ec_thread, 0 },
			{ "an unreadable thread", CONTEXT + offsets->ec_thread, NOWHERE },
			{ "another fiber", THREAD + offsets->thread_ec, CONTEXT + 8 },
		};
		struct mem *mem = make_program(&layout);

		for (size_t n = 0; n < COUNT(changes); n++) {
			const uint64_t was = word_at(mem, changes[n].address);

			print_message("%s: %s\n", generations[i].name, changes[n].name);
			put_word(mem, changes[n].address, changes[n].word);
			assert_false(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
			put_word(mem, changes[n].address, was);
		}
		assert_true(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
		assert_false(ruby_is_context(mem, &layout, 0, PTHREAD));
		assert_false(ruby_is_context(mem, &layout, CONTEXT + 4, PTHREAD));
		assert_false(ruby_is_context(mem, &layout, NOWHERE, PTHREAD));
		/* Whose it is, is asked where no variable of the thread's own named it. */
		assert_int_equal(ruby_is_context(mem, &layout, CONTEXT, PTHREAD + 8),
				 generations[i].context_means == RUBY_CONTEXT_BY_TLS);
		free(mem);
	}
}

static void a_thread_may_be_between_two_fibers(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	const struct ruby_offsets *offsets = &layout.offsets;
	const uint64_t other = CONTEXT + 0x80;
	struct mem *mem = make_program(&layout);

	(void)state;
	put_word(mem, THREAD + offsets->thread_ec, other);
	assert_false(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
	put_word(mem, other + offsets->ec_stack, STACK);
	put_word(mem, other + offsets->ec_stack_size, STACK_WORDS);
	put_word(mem, other + offsets->ec_frame, STACK_END);
	put_word(mem, other + offsets->ec_thread, THREAD);
	assert_true(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
	/* One of another thread's. */
	put_word(mem, other + offsets->ec_thread, THREAD + 8);
	assert_false(ruby_is_context(mem, &layout, CONTEXT, PTHREAD));
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_read_innermost_first),
		cmocka_unit_test(machine_code_is_known_by_where_it_returns),
		cmocka_unit_test(what_only_begins_a_stack_is_no_last_frame),
		cmocka_unit_test(a_block_in_c_has_no_name),
		cmocka_unit_test(a_rescue_clause_reports_its_frame),
		cmocka_unit_test(a_method_is_found_behind_what_stands_before_it),
		cmocka_unit_test(an_environment_may_be_moving),
		cmocka_unit_test(a_stack_may_have_no_frames),
		cmocka_unit_test(only_a_context_is_one),
		cmocka_unit_test(a_thread_may_be_between_two_fibers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
