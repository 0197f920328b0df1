/*
 * test_python - which Python frames an activation executes, in memory made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "python_memory_image.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
/* Activations are 0x100 bytes each, the innermost lowest. */
#define SP(n)       (STACK + (n)*0x100ULL)
#define CFA(n)      SP((n) + 1)
#define SHIM(n)     (CFA(n) - 0x60)
#define CFRAME(n)   (CFA(n) - 0x90)
#define ROOT_CFRAME (MEMORY + 0x20200)

enum owner { THREAD_S, GENERATOR_S };

/* What a walk is to say, activation by activation: "b2 a5|c7|" and how it ended. */
struct outcome {
	char text[256];
};

static void say(struct outcome *outcome, const char *text)
{
	strncat(outcome->text, text, sizeof outcome->text - strlen(outcome->text) - 1);
}

static void say_frame(struct outcome *outcome, const struct python_frame *frame)
{
	char text[32];

	snprintf(text, sizeof text, "%c%d ", (int)('a' + (frame->code - CODE(0)) / 0x200),
		 (int)frame->instruction);
	say(outcome, text);
}

static const char *word_of(enum python_step step)
{
	switch (step) {
	case PYTHON_END:
		return "| ";
	case PYTHON_NONE:
		return "none| ";
	case PYTHON_STRAY:
		return "stray| ";
	case PYTHON_BROKEN:
		return "broken| ";
	default:
		return "endless| ";
	}
}

static struct outcome walk_all(struct mem *mem, const struct python_layout *layout,
			       uint64_t distance, unsigned activations)
{
	struct outcome outcome = { "" };
	struct python_walk walk;
	struct python_frame frame = { 0 };

	if (python_begin(mem, layout, STATE, distance, &walk) < 0) {
		say(&outcome, "no beginning");
		return outcome;
	}
	for (unsigned i = 0; i < activations; i++) {
		const size_t before = strlen(outcome.text);
		enum python_step step = python_enter(mem, &walk, SP(i), CFA(i));

		for (int n = 0; n < 9 && (step == PYTHON_FRAME || step == PYTHON_SKIP); n++) {
			step = python_next(mem, &walk, &frame);
			if (step == PYTHON_FRAME)
				say_frame(&outcome, &frame);
		}
		if (step != PYTHON_END)
			outcome.text[before] = '\0';
		say(&outcome, word_of(step));
		if ((step == PYTHON_STRAY || step == PYTHON_BROKEN) &&
		    python_pass(mem, &walk) < 0) {
			say(&outcome, "lost");
			return outcome;
		}
	}
	say(&outcome, python_is_over(&walk) ? "over" : "more");
	return outcome;
}

/* The same where the native walk ended behind some activations: all frames follow. */
static struct outcome walk_outer(struct mem *mem, const struct python_layout *layout,
				 unsigned activations)
{
	struct outcome outcome = { "" };
	struct python_walk walk;
	struct python_frame frame = { 0 };
	enum python_step step = PYTHON_SKIP;

	assert_int_equal(python_begin(mem, layout, STATE, 0, &walk), 0);
	for (unsigned i = 0; i < activations; i++) {
		step = python_enter(mem, &walk, SP(i), CFA(i));
		while (step == PYTHON_FRAME || step == PYTHON_SKIP)
			step = python_next(mem, &walk, &frame);
	}
	if (python_outer_begin(mem, &walk) < 0) {
		say(&outcome, "none");
		return outcome;
	}
	if (activations > 0 && !python_outer_is_certain(mem, &walk))
		say(&outcome, "uncertain ");
	step = PYTHON_SKIP;
	for (int n = 0; n < 9 && (step == PYTHON_FRAME || step == PYTHON_SKIP); n++) {
		step = python_outer_next(mem, &walk, &frame);
		if (step == PYTHON_FRAME)
			say_frame(&outcome, &frame);
	}
	say(&outcome, word_of(step));
	return outcome;
}

static struct mem *new_memory(void)
{
	struct mem *mem = calloc(1, sizeof *mem);

	put_word(mem, STATE + 8, INTERP);
	put_word(mem, STATE + 32, THREAD);
	return mem;
}

/*
 * Two activations: a calls b in the inner one, and c, whose C function came to it, executes in
 * the outer one.
 */
static void make_shims(struct mem *mem)
{
	put_word(mem, STATE + 16, FRAME(1));
	put_frame(mem, FRAME(1), 1, 12, THREAD_S, FRAME(0));
	put_frame(mem, FRAME(0), 0, 15, THREAD_S, SHIM(0));
	put_shim(mem, SHIM(0), FRAME(2));
	put_frame(mem, FRAME(2), 2, 17, THREAD_S, SHIM(1));
	put_shim(mem, SHIM(1), 0);
}

static void make_cframe_shims(struct mem *mem)
{
	make_shims(mem);
	put_word(mem, STATE + 24, CFRAME(0));
	put_word(mem, CFRAME(0) + 8, FRAME(1));
	put_word(mem, CFRAME(1) + 8, FRAME(2));
	put_word(mem, CFRAME(0) + 16, CFRAME(1));
	put_word(mem, CFRAME(1) + 16, ROOT_CFRAME);
}

static void make_entries(struct mem *mem)
{
	make_cframe_shims(mem);
	put_word(mem, FRAME(0) + 8, FRAME(2));
	put_byte(mem, FRAME(0) + 43, 1);
	put_word(mem, FRAME(2) + 8, 0);
	put_byte(mem, FRAME(2) + 43, 1);
}

static void as_they_are(struct mem *mem)
{
	(void)mem;
}

static void inner_is_beginning(struct mem *mem)
{
	put_word(mem, STATE + 16, FRAME(2));
	put_word(mem, STATE + 24, CFRAME(1));
}

static void both_are_beginning(struct mem *mem)
{
	put_word(mem, STATE + 16, 0);
	put_word(mem, STATE + 24, NOWHERE);
}

static void callee_is_set_up(struct mem *mem)
{
	put_frame(mem, FRAME(1), 1, 1, THREAD_S, FRAME(0));
}

static void callee_has_not_begun(struct mem *mem)
{
	put_frame(mem, FRAME(1), 1, -1, THREAD_S, FRAME(0));
}

static void callee_is_generator(struct mem *mem)
{
	put_frame(mem, FRAME(1), 1, 1, GENERATOR_S, FRAME(0));
}

static void head_leads_nowhere(struct mem *mem)
{
	put_word(mem, STATE + 16, NOWHERE);
	put_word(mem, CFRAME(0) + 8, NOWHERE);
}

static void caller_is_no_code(struct mem *mem)
{
	put_word(mem, CODE(0) + 8, CODE_TYPE + 1);
}

static void chain_is_a_circle(struct mem *mem)
{
	put_word(mem, FRAME(1) + 8, FRAME(1));
}

static void inner_chain_is_anothers(struct mem *mem)
{
	put_word(mem, FRAME(0) + 8, SHIM(1));
}

/* An activation half made may have another's caller. */
static void inner_has_another_caller(struct mem *mem)
{
	put_frame(mem, FRAME(3), 3, 19, THREAD_S, 0);
	put_word(mem, SHIM(0) + 8, FRAME(3));
}

static void entry_has_another_caller(struct mem *mem)
{
	put_frame(mem, FRAME(3), 3, 19, THREAD_S, 0);
	put_word(mem, FRAME(0) + 8, FRAME(3));
}

/* As throw() links them for the time that the innermost generator of three takes. */
static void an_exception_is_thrown_in(struct mem *mem)
{
	put_frame(mem, FRAME(3), 3, 19, GENERATOR_S, FRAME(2));
	put_byte(mem, FRAME(3) + 43, 1);
	put_frame(mem, FRAME(4), 4, 21, GENERATOR_S, FRAME(3));
	put_byte(mem, FRAME(4) + 43, 1);
	put_word(mem, CFRAME(1) + 8, FRAME(4));
	put_frame(mem, FRAME(0), 0, 15, GENERATOR_S, FRAME(4));
}

/* The first frame of a greenlet; behind it the stack is another one's. */
static void inner_has_no_caller(struct mem *mem)
{
	put_word(mem, SHIM(0) + 8, 0);
	put_word(mem, CFRAME(0) + 16, ROOT_CFRAME);
}

static void entry_has_no_caller(struct mem *mem)
{
	put_word(mem, FRAME(0) + 8, 0);
	put_word(mem, CFRAME(0) + 16, ROOT_CFRAME);
}

/* What is left of a generator that was executed there. */
static void entry_is_stale(struct mem *mem)
{
	put_word(mem, FRAME(0) + 8, 0);
}

static void reference_has_marks(struct mem *mem)
{
	put_word(mem, FRAME(1) + 24, CODE(1) | 1);
	put_word(mem, FRAME(0) + 24, CODE(0) | 3);
}

static void state_cannot_be_read(struct mem *mem)
{
	mem->gap = STATE + 16;
}

static void outer_cframe_cannot_be_read(struct mem *mem)
{
	mem->gap = CFRAME(1) + 8;
}

static void owner_cannot_be_read(struct mem *mem)
{
	mem->gap = FRAME(0) + 40;
}

static const struct {
	const char *name;
	void (*make)(struct mem *mem);
	enum python_chain chain;
	void (*change)(struct mem *mem);
	const char *expected;
	unsigned distance;
} cases[] = {
	{ "3.13: each activation's frames", make_shims, PYTHON_CHAIN_SHIM, as_they_are,
	  "b12 a15 | c17 | over", 0 },
	{ "3.13: one that begins has none", make_shims, PYTHON_CHAIN_SHIM, inner_is_beginning,
	  "none| c17 | over", 0 },
	{ "3.13: two cannot begin at once", make_shims, PYTHON_CHAIN_SHIM, both_are_beginning,
	  "none| stray| lost", 0 },
	{ "3.13: a frame being set up is skipped", make_shims, PYTHON_CHAIN_SHIM,
	  callee_is_set_up, "a15 | c17 | over", 0 },
	{ "3.13: and one without a position", make_shims, PYTHON_CHAIN_SHIM,
	  callee_has_not_begun, "a15 | c17 | over", 0 },
	{ "3.13: a generator's is not", make_shims, PYTHON_CHAIN_SHIM, callee_is_generator,
	  "b1 a15 | c17 | over", 0 },
	{ "3.13: no head, and no way on", make_shims, PYTHON_CHAIN_SHIM, head_leads_nowhere,
	  "broken| lost", 0 },
	{ "3.13: by the shim's place there is one", make_shims, PYTHON_CHAIN_SHIM,
	  head_leads_nowhere, "broken| c17 | over", 0x60 },
	{ "3.13: not at any place", make_shims, PYTHON_CHAIN_SHIM, head_leads_nowhere,
	  "broken| lost", 0x50 },
	{ "3.13: what is no code ends it", make_shims, PYTHON_CHAIN_SHIM, caller_is_no_code,
	  "broken| c17 | over", 0x60 },
	{ "3.13: a circle is the caller's to bound", make_shims, PYTHON_CHAIN_SHIM,
	  chain_is_a_circle, "endless| endless| over", 0 },
	{ "3.14: marks in references", make_shims, PYTHON_CHAIN_SHIM, reference_has_marks,
	  "b12 a15 | c17 | over", 0 },
	{ "3.13: the state", make_shims, PYTHON_CHAIN_SHIM, state_cannot_be_read,
	  "no beginning", 0 },
	{ "3.13: an owner", make_shims, PYTHON_CHAIN_SHIM, owner_cannot_be_read,
	  "broken| c17 | over", 0x60 },

	{ "3.12: each activation's frames", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  as_they_are, "b12 a15 | c17 | over", 0 },
	{ "3.12: one that begins has none", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  inner_is_beginning, "none| c17 | over", 0 },
	{ "3.12: two cannot begin at once", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  both_are_beginning, "none| stray| lost", 0 },
	{ "3.12: half made, and the outer one right", make_cframe_shims,
	  PYTHON_CHAIN_CFRAME_SHIM, head_leads_nowhere, "broken| c17 | over", 0 },
	{ "3.12: another activation's end", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  inner_chain_is_anothers, "stray| c17 | over", 0 },
	{ "3.12: the caller is not the next one's innermost", make_cframe_shims,
	  PYTHON_CHAIN_CFRAME_SHIM, inner_has_another_caller, "b12 a15 | stray| over", 0 },
	{ "3.12: a distance of old", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM, as_they_are,
	  "b12 a15 | c17 | over", 0x40 },
	{ "3.12: an outer cframe", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  outer_cframe_cannot_be_read, "b12 a15 | broken| over", 0 },

	{ "3.11: each activation's frames", make_entries, PYTHON_CHAIN_ENTRY_FLAG, as_they_are,
	  "b12 a15 | c17 | over", 0 },
	{ "3.11: one that begins has none", make_entries, PYTHON_CHAIN_ENTRY_FLAG,
	  inner_is_beginning, "none| c17 | over", 0 },
	{ "3.11: a frame being set up is skipped", make_entries, PYTHON_CHAIN_ENTRY_FLAG,
	  callee_is_set_up, "a15 | c17 | over", 0 },
	{ "3.11: half made, and the outer one right", make_entries, PYTHON_CHAIN_ENTRY_FLAG,
	  head_leads_nowhere, "broken| c17 | over", 0 },
	{ "3.11: the caller is not the next one's innermost", make_entries,
	  PYTHON_CHAIN_ENTRY_FLAG, entry_has_another_caller, "b12 a15 | stray| over", 0 },
	{ "3.11: generators that an exception is passed on by", make_entries,
	  PYTHON_CHAIN_ENTRY_FLAG, an_exception_is_thrown_in, "b12 a15 | e21 d19 c17 | over",
	  0 },
};

static void each_activation_has_its_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct mem *mem = new_memory();
		const struct python_layout layout = layout_of(cases[i].chain);

		cases[i].make(mem);
		cases[i].change(mem);
		const struct outcome outcome = walk_all(mem, &layout, cases[i].distance, 2);

		if (strcmp(outcome.text, cases[i].expected) != 0)
			print_error("%s:\n", cases[i].name);
		assert_string_equal(outcome.text, cases[i].expected);
		free(mem);
	}
}

static const struct {
	const char *name;
	void (*make)(struct mem *mem);
	enum python_chain chain;
	void (*change)(struct mem *mem);
	unsigned activations;
	const char *expected;
} outers[] = {
	{ "3.13: behind none", make_shims, PYTHON_CHAIN_SHIM, as_they_are, 0,
	  "b12 a15 c17 | " },
	{ "3.13: behind the inner one", make_shims, PYTHON_CHAIN_SHIM, as_they_are, 1,
	  "c17 | " },
	{ "3.13: behind both", make_shims, PYTHON_CHAIN_SHIM, as_they_are, 2, "| " },
	{ "3.13: one being set up is skipped", make_shims, PYTHON_CHAIN_SHIM, callee_is_set_up,
	  0, "a15 c17 | " },
	{ "3.13: a circle is the caller's to bound", make_shims, PYTHON_CHAIN_SHIM,
	  chain_is_a_circle, 0, "b12 b12 b12 b12 b12 b12 b12 b12 b12 endless| " },
	{ "3.13: no head", make_shims, PYTHON_CHAIN_SHIM, head_leads_nowhere, 0, "broken| " },
	{ "3.13: behind a half-made one is nothing", make_shims, PYTHON_CHAIN_SHIM,
	  inner_is_beginning, 1, "none" },
	{ "3.12: behind none", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM, as_they_are, 0,
	  "b12 a15 c17 | " },
	{ "3.12: behind the inner one", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM,
	  as_they_are, 1, "c17 | " },
	{ "3.12: another caller than the next one's innermost", make_cframe_shims,
	  PYTHON_CHAIN_CFRAME_SHIM, inner_has_another_caller, 1, "uncertain d19 | " },
	{ "3.12: no head", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM, both_are_beginning, 0,
	  "none" },
	{ "3.11: behind none", make_entries, PYTHON_CHAIN_ENTRY_FLAG, as_they_are, 0,
	  "b12 a15 c17 | " },
	{ "3.11: behind the inner one", make_entries, PYTHON_CHAIN_ENTRY_FLAG, as_they_are, 1,
	  "c17 | " },
	{ "3.11: another caller than the next one's innermost", make_entries,
	  PYTHON_CHAIN_ENTRY_FLAG, entry_has_another_caller, 1, "uncertain d19 | " },
	{ "3.11: generators that an exception is passed on by", make_entries,
	  PYTHON_CHAIN_ENTRY_FLAG, an_exception_is_thrown_in, 0, "b12 a15 e21 d19 c17 | " },
	{ "3.11: behind a half-made one is nothing", make_entries, PYTHON_CHAIN_ENTRY_FLAG,
	  inner_is_beginning, 1, "none" },
};

static void frames_follow_where_the_native_walk_was_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(outers); i++) {
		struct mem *mem = new_memory();
		const struct python_layout layout = layout_of(outers[i].chain);

		outers[i].make(mem);
		outers[i].change(mem);
		const struct outcome outcome = walk_outer(mem, &layout, outers[i].activations);

		if (strcmp(outcome.text, outers[i].expected) != 0)
			print_error("%s:\n", outers[i].name);
		assert_string_equal(outcome.text, outers[i].expected);
		free(mem);
	}
}

static const struct {
	const char *name;
	void (*make)(struct mem *mem);
	enum python_chain chain;
	void (*change)(struct mem *mem);
	bool has_ended;
} endings[] = {
	{ "3.13: a caller", make_shims, PYTHON_CHAIN_SHIM, as_they_are, false },
	{ "3.13: none", make_shims, PYTHON_CHAIN_SHIM, inner_has_no_caller, true },
	{ "3.12: a caller", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM, as_they_are, false },
	{ "3.12: none", make_cframe_shims, PYTHON_CHAIN_CFRAME_SHIM, inner_has_no_caller,
	  true },
	{ "3.11: a caller", make_entries, PYTHON_CHAIN_ENTRY_FLAG, as_they_are, false },
	{ "3.11: none", make_entries, PYTHON_CHAIN_ENTRY_FLAG, entry_has_no_caller, true },
	{ "3.11: an old frame has none", make_entries, PYTHON_CHAIN_ENTRY_FLAG, entry_is_stale,
	  false },
};

static void frames_have_ended_where_nothing_called_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(endings); i++) {
		struct mem *mem = new_memory();
		const struct python_layout layout = layout_of(endings[i].chain);
		struct python_walk walk;
		struct python_frame frame;

		endings[i].make(mem);
		endings[i].change(mem);
		assert_int_equal(python_begin(mem, &layout, STATE, 0, &walk), 0);
		enum python_step step = python_enter(mem, &walk, SP(0), CFA(0));

		for (int n = 0; n < 9 && (step == PYTHON_FRAME || step == PYTHON_SKIP); n++)
			step = python_next(mem, &walk, &frame);
		if (walk.has_ended != endings[i].has_ended)
			print_error("%s:\n", endings[i].name);
		assert_int_equal(step, PYTHON_END);
		assert_int_equal(walk.has_ended, endings[i].has_ended);
		free(mem);
	}
}

static void the_base_frame_ends_the_chain(void **state)
{
	struct mem *mem = new_memory();
	struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);

	(void)state;
	layout.offsets.state_base_frame = 48;
	make_shims(mem);
	put_word(mem, STATE + 48, BASE_FRAME);
	put_word(mem, SHIM(1) + 8, BASE_FRAME);
	put_shim(mem, BASE_FRAME, 0);
	assert_string_equal(walk_all(mem, &layout, 0, 2).text, "b12 a15 | c17 | over");
	assert_string_equal(walk_all(mem, &layout, 0, 1).text, "b12 a15 | more");
	put_word(mem, STATE + 16, BASE_FRAME);
	assert_string_equal(walk_all(mem, &layout, 0, 1).text, "none| over");
	free(mem);
}

static void a_thread_may_execute_a_copy_of_the_code(void **state)
{
	struct mem *mem = new_memory();
	struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);
	const uint64_t copies = TEXT(0), copy = TEXT(1);

	(void)state;
	layout.offsets.code_copies = 52;
	layout.offsets.frame_bytecode_index = 48;
	make_shims(mem);
	put_word(mem, CODE(1) + 52, copies);
	put_word(mem, copies, 2);
	put_word(mem, copies + 16, copy);
	put_int(mem, CODE(1) + 60, 2);
	put_int(mem, FRAME(1) + 48, 1);
	put_word(mem, FRAME(1) + 32, copy + 2 * 33);
	assert_string_equal(walk_all(mem, &layout, 0, 1).text, "b33 a15 | more");
	put_int(mem, FRAME(1) + 48, 2);
	assert_string_equal(walk_all(mem, &layout, 0, 1).text, "broken| lost");
	free(mem);
}

static void a_state_is_its_threads(void **state)
{
	struct mem *mem = new_memory();
	const struct python_layout layout = layout_of(PYTHON_CHAIN_SHIM);

	(void)state;
	assert_true(python_is_state(mem, &layout, STATE, THREAD));
	assert_false(python_is_state(mem, &layout, STATE, THREAD + 1));
	assert_false(python_is_state(mem, &layout, 0, THREAD));
	assert_false(python_is_state(mem, &layout, NOWHERE, THREAD));
	put_word(mem, STATE + 8, 0);
	assert_false(python_is_state(mem, &layout, STATE, THREAD));
	free(mem);
}

static void the_loop_is_where_the_layout_says(void **state)
{
	struct python_layout layout = { .loop = { { 0x1000, 0x2000 }, { 0x5000, 0x5001 } } };

	(void)state;
	assert_true(code_ranges_have(layout.loop, 0x1000));
	assert_true(code_ranges_have(layout.loop, 0x1fff));
	assert_false(code_ranges_have(layout.loop, 0x2000));
	assert_true(code_ranges_have(layout.loop, 0x5000));
	assert_false(code_ranges_have(layout.loop, 0x5001));
	assert_false(code_ranges_have(layout.loop, 0));
}

static void objects_follow_each_other(void **state)
{
	struct mem *mem = new_memory();
	const struct python_layout layout = layout_of(PYTHON_CHAIN_OBJECTS);
	struct python_walk walk;
	struct python_frame frame = { 0 };

	(void)state;
	put_word(mem, STATE + 16, FRAME(1));
	put_object(mem, FRAME(1), 1, 12, FRAME(0));
	put_object(mem, FRAME(0), 0, -1, 0);
	assert_int_equal(python_begin(mem, &layout, STATE, 0, &walk), 0);
	assert_int_equal(python_object_next(mem, &walk, &frame), PYTHON_FRAME);
	assert_true(frame.code == CODE(1) && frame.instruction == 12);
	assert_int_equal(python_object_next(mem, &walk, &frame), PYTHON_FRAME);
	assert_true(frame.code == CODE(0) && frame.instruction == 0);
	assert_int_equal(python_object_next(mem, &walk, &frame), PYTHON_END);

	walk.frame = NOWHERE;
	assert_int_equal(python_object_next(mem, &walk, &frame), PYTHON_BROKEN);
	walk.frame = FRAME(1);
	put_word(mem, CODE(1) + 8, CODE_TYPE + 8);
	assert_int_equal(python_object_next(mem, &walk, &frame), PYTHON_BROKEN);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_activation_has_its_frames),
		cmocka_unit_test(frames_follow_where_the_native_walk_was_cut),
		cmocka_unit_test(frames_have_ended_where_nothing_called_them),
		cmocka_unit_test(the_base_frame_ends_the_chain),
		cmocka_unit_test(a_thread_may_execute_a_copy_of_the_code),
		cmocka_unit_test(a_state_is_its_threads),
		cmocka_unit_test(the_loop_is_where_the_layout_says),
		cmocka_unit_test(objects_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
