/*
 * test_ruby_whole - an innermost frame that is being made is passed over, and no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_walked.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void has_no_code(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_iseq, OBJECT(9));
}

static void has_no_iseq(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_iseq, 0);
}

static void has_pc_before(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_pc, CODE(3) - 8);
}

static void has_pc_behind(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_pc, CODE(3) + 72);
}

static void has_crooked_pc(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_pc, CODE(3) + 12);
}

static void has_no_environment(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_ep, 0);
}

static void has_crooked_environment(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_ep, EP(5) + 4);
}

static void is_of_no_kind(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, EP(5), 0x12340001);
}

static void is_another_methods(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, EP(5) - 16, METHOD(1));
}

static void has_no_method(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, EP(5) - 16, 0);
}

static void is_a_blocks_code(struct mem *mem, const struct ruby_layout *layout)
{
	put_int(mem, BODY(3) + layout->offsets.body_type, RUBY_ISEQ_BLOCK);
}

static void is_a_clauses_code(struct mem *mem, const struct ruby_layout *layout)
{
	put_int(mem, BODY(3) + layout->offsets.body_type, RUBY_ISEQ_RESCUE);
}

static void is_code_of_no_kind(struct mem *mem, const struct ruby_layout *layout)
{
	put_int(mem, BODY(3) + layout->offsets.body_type, 9);
}

static void is_in_c_and_is_not(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, EP(5), MAGIC_CFUNC | IS_LOCAL | IS_CFRAME);
}

static void is_unreadable(struct mem *mem, const struct ruby_layout *layout)
{
	mem->gap = frame_at(layout, 5) + 24;
}

static void has_flags_of_a_number(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, EP(5), 2 * 77 + 1);
}

static const struct {
	const char *name;
	void (*change)(struct mem *mem, const struct ruby_layout *layout);
	int is_of_innermost; /* only looked for there */
} tears[] = {
	{ "no iseq's object", has_no_code, 0 },
	{ "no iseq", has_no_iseq, 0 },
	{ "pc before the code", has_pc_before, 0 },
	{ "pc behind the code", has_pc_behind, 0 },
	{ "pc within a word", has_crooked_pc, 0 },
	{ "no environment", has_no_environment, 0 },
	{ "environment within a word", has_crooked_environment, 0 },
	{ "unknown kind", is_of_no_kind, 0 },
	{ "a number for a kind", has_flags_of_a_number, 0 },
	{ "a block's code in a method's frame", is_a_blocks_code, 1 },
	{ "a rescue clause's code in a method's frame", is_a_clauses_code, 1 },
	{ "code of no kind", is_code_of_no_kind, 1 },
	{ "a Ruby method in C", is_in_c_and_is_not, 1 },
	{ "another method's code", is_another_methods, 1 },
	{ "a method's code without one", has_no_method, 1 },
	{ "unreadable", is_unreadable, 0 },
};

static void an_innermost_frame_that_is_being_made_is_passed_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < GENERATIONS * COUNT(tears); i++) {
		const struct ruby_layout layout = layout_of(&generations[i / COUNT(tears)]);
		struct mem *mem = make_program(&layout);

		print_message("%s: %s\n", generations[i / COUNT(tears)].name,
			      tears[i % COUNT(tears)].name);
		tears[i % COUNT(tears)].change(mem, &layout);
		const struct walked walked = walk(mem, &layout);

		assert_int_equal(walked.ends, RUBY_END);
		assert_int_equal(walked.count, 5);
		assert_int_equal(walked.frames[0].iseq, ISEQ(2));
		free(mem);
	}
}

static void further_out_the_same_is_broken(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[4]);

	(void)state;
	for (size_t i = 0; i < COUNT(tears); i++) {
		struct mem *mem = make_program(&layout);

		tears[i].change(mem, &layout);
		put_env(mem, EP(6), METHOD(1), 0, MAGIC_METHOD | IS_LOCAL);
		put_frame(mem, &layout, 6, ISEQ(1), CODE(1) + 8, EP(6));
		put_context(mem, &layout, 6);
		/* What it executes was compared when it was the innermost. */
		assert_int_equal(walk(mem, &layout).ends,
				 tears[i].is_of_innermost ? RUBY_END : RUBY_BROKEN);
		assert_int_equal(walk(mem, &layout).count, tears[i].is_of_innermost ? 7 : 1);
		free(mem);
	}
}

/* In 2.7 what was there before may look whole: a frame that has executed `leave`. */
static void what_has_returned_is_no_frame_where_frames_are_named_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		const int named_first = generations[i].version < 0x030000;
		struct mem *mem = make_program(&layout);

		put_word(mem, CODE(3) + 56, INSTRUCTION(RUBY_OPERATOR_LEAVE));
		put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 64, EP(5));
		assert_int_equal(walk(mem, &layout).count, named_first ? 5 : 6);
		/* The same in the middle, where another instruction begins. */
		put_word(mem, CODE(3), INSTRUCTION(RUBY_OPERATOR_LEAVE));
		put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 8, EP(5));
		assert_int_equal(walk(mem, &layout).count, named_first ? 5 : 6);
		/* That one lets pc stay: it is being executed, and was jumped to. */
		put_word(mem, CODE(3) + 8, INSTRUCTION(PLUS_STAYS));
		assert_int_equal(walk(mem, &layout).count, 6);
		free(mem);
	}
}

static void a_block_of_a_method_has_one_where_frames_are_named_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = make_program(&layout);

		put_context(mem, &layout, 4);
		assert_int_equal(walk(mem, &layout).count, 5);
		put_word(mem, EP(2) - 16, 0);
		assert_int_equal(walk(mem, &layout).count, layout.version < 0x030000 ? 4 : 5);
		/* One of a file's has none. */
		put_int(mem, BODY(1) + layout.offsets.body_type, RUBY_ISEQ_TOP);
		assert_int_equal(walk(mem, &layout).count, 5);
		free(mem);
	}
}

/* The caller of the innermost frame, frame 4, calls what its instruction's cache says. */
static void put_called(struct mem *mem, const struct ruby_layout *layout, uint64_t method)
{
	put_word(mem, CODE(2) + 16, INSTRUCTION(RUBY_OPERATOR_SEND));
	put_word(mem, CODE(2) + 24, TABLE);
	put_word(mem, TABLE + layout->offsets.cache_method, method);
}

static void what_is_not_called_is_no_frame_where_frames_are_named_first(void **state)
{
	static const struct {
		const char *name;
		uint64_t called, method, flags, outer;
		uint32_t type;
		int is_whole;
	} cases[] = {
		{ "the method called", METHOD(3), METHOD(3), MAGIC_METHOD | IS_LOCAL, 0,
		  RUBY_ISEQ_METHOD, 1 },
		{ "a method", METHOD(1), METHOD(3), MAGIC_METHOD | IS_LOCAL, 0,
		  RUBY_ISEQ_METHOD, 0 },
		{ "a method, for one in C", METHOD(2), METHOD(3), MAGIC_METHOD | IS_LOCAL, 0,
		  RUBY_ISEQ_METHOD, 0 },
		{ "a method, called by something unknown", METHOD(6), METHOD(3),
		  MAGIC_METHOD | IS_LOCAL, 0, RUBY_ISEQ_METHOD, 1 },
		{ "a method, called by nothing", 0, METHOD(3), MAGIC_METHOD | IS_LOCAL, 0,
		  RUBY_ISEQ_METHOD, 1 },
		{ "a method that C called", METHOD(1), METHOD(3),
		  MAGIC_METHOD | IS_LOCAL | IS_FINISH, 0, RUBY_ISEQ_METHOD, 1 },
		{ "the method in C called", METHOD(2), METHOD(2),
		  MAGIC_CFUNC | IS_LOCAL | IS_CFRAME, 0, 0, 1 },
		{ "one in C that only raises", METHOD(7), METHOD(7),
		  MAGIC_CFUNC | IS_LOCAL | IS_CFRAME, 0, 0, 1 },
		{ "a method in C", METHOD(5), METHOD(2), MAGIC_CFUNC | IS_LOCAL | IS_CFRAME, 0,
		  0, 0 },
		{ "a method in C, for one of Ruby", METHOD(1), METHOD(2),
		  MAGIC_CFUNC | IS_LOCAL | IS_CFRAME, 0, 0, 0 },
		{ "a block", METHOD(2), 0, MAGIC_BLOCK, EP(4), RUBY_ISEQ_BLOCK, 0 },
		{ "its rescue clause", METHOD(2), 0, MAGIC_RESCUE, EP(4) | 1, RUBY_ISEQ_RESCUE,
		  1 },
		{ "another's rescue clause", METHOD(2), 0, MAGIC_RESCUE, EP(2) | 1,
		  RUBY_ISEQ_RESCUE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		const int named_first = layout.version < 0x030000;
		const size_t n = i / GENERATIONS;
		struct mem *mem = make_program(&layout);

		print_message("%s: %s\n", generations[i % GENERATIONS].name, cases[n].name);
		put_method(mem, &layout, 5, 2, 1, ID_OF(600));
		put_method(mem, &layout, 6, 2, 9, ID_OF(600));
		put_method(mem, &layout, 7, 2, 8, ID_OF(600));
		put_called(mem, &layout, cases[n].called);
		put_env(mem, EP(5), cases[n].method, cases[n].outer, cases[n].flags);
		put_int(mem, BODY(3) + layout.offsets.body_type, cases[n].type);
		assert_int_equal(walk(mem, &layout).count,
				 named_first && !cases[n].is_whole ? 5 : 6);
		free(mem);
	}
}

/* A thread that lets others run, or is asked for something, may do so at its `leave`. */
static void no_frame_is_doubted_where_none_is_made(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[0]);
	struct mem *mem = make_program(&layout);
	struct ruby_walk settled;
	struct ruby_frame frame;

	(void)state;
	put_word(mem, CODE(3) + 56, INSTRUCTION(RUBY_OPERATOR_LEAVE));
	put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 64, EP(5));
	assert_int_equal(walk(mem, &layout).count, 5);
	assert_int_equal(ruby_begin(mem, &layout, CONTEXT, &settled), 0);
	settled.is_settled = 1;
	assert_int_equal(ruby_next(mem, &settled, &frame), RUBY_FRAME);
	assert_int_equal(frame.iseq, ISEQ(3));
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_innermost_frame_that_is_being_made_is_passed_over),
		cmocka_unit_test(further_out_the_same_is_broken),
		cmocka_unit_test(what_has_returned_is_no_frame_where_frames_are_named_first),
		cmocka_unit_test(a_block_of_a_method_has_one_where_frames_are_named_first),
		cmocka_unit_test(what_is_not_called_is_no_frame_where_frames_are_named_first),
		cmocka_unit_test(no_frame_is_doubted_where_none_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
