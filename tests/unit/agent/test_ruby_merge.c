/* test_ruby_merge - where Ruby's frames stand among the native ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "agent/interpreters/ruby/merge.c"

#define MOST 16

/* Addresses and words are letters: lower case native, upper case Ruby's. */
enum { CORE = 'c', LOOP = 'l' };

static const struct ruby_layout layout = {
	.core = { { CORE, CORE + 1 } },
	.loop = { { LOOP, LOOP + 1 } },
};

struct merge_case {
	const char *name;
	const char *natives; /* innermost first; `|` is a mark */
	const char *ruby;    /* a `'` behind a method in C, a `.` behind an activation's last */
	const char *expected;
	bool may_not_fit;
	bool does_not;
	u32 room;
	bool is_cut;
};

static const struct merge_case cases[] = {
	{ .name = "nothing is nothing", .natives = "abm", .ruby = "", .expected = "abm" },
	{ .name = "without Ruby frames the native ones stay",
	  .natives = "xcl|ycl|m",
	  .ruby = "",
	  .expected = "xclyclm",
	  .does_not = true },
	{ .name = "as they do where one activation begins",
	  .natives = "xcl|m",
	  .ruby = "",
	  .expected = "xclm" },
	{ .name = "an activation's frames stand behind its loop",
	  .natives = "cl|m",
	  .ruby = "FM.",
	  .expected = "clFMm" },
	{ .name = "methods in C come before the interpreter's own code",
	  .natives = "zxcl|m",
	  .ruby = "S'FM.",
	  .expected = "zxSclFMm" },
	{ .name = "the leaf may be in the interpreter, then it is no frame",
	  .natives = "l|m",
	  .ruby = "S'FM.",
	  .expected = "SlFMm" },
	{ .name = "each activation has its own",
	  .natives = "cl|yecl|m",
	  .ruby = "B.E'M.",
	  .expected = "clByeEclMm" },
	{ .name = "several methods in C may call each other",
	  .natives = "xcl|m",
	  .ruby = "A'B'M.",
	  .expected = "xABclMm" },
	{ .name = "between frames of Ruby's own there is none",
	  .natives = "cl|m",
	  .ruby = "FGH.",
	  .expected = "clFGHm" },
	{ .name = "one that is not entered yet is inside of all",
	  .natives = "yecl|m",
	  .ruby = "B.E'M.",
	  .expected = "ByeEclMm" },
	{ .name = "one that has been left has no frames",
	  .natives = "l|yecl|m",
	  .ruby = "E'M.",
	  .expected = "lyeEclMm" },
	{ .name = "frames of no activation stand behind the last",
	  .natives = "cl|fm",
	  .ruby = "F.Z'",
	  .expected = "clFZfm" },
	{ .name = "without a loop they are inside of all",
	  .natives = "fm",
	  .ruby = "Z'",
	  .expected = "Zfm" },
	{ .name = "two more than there are loops is no fit",
	  .natives = "yecl|m",
	  .ruby = "A.B.E'M.",
	  .expected = "yeclABEM",
	  .does_not = true },
	{ .name = "two less is none either",
	  .natives = "cl|ycl|zcl|m",
	  .ruby = "M.",
	  .expected = "clM",
	  .does_not = true },
	{ .name = "a native stack that is not whole is cut",
	  .natives = "xcl|ycl|",
	  .ruby = "S'F.G.",
	  .expected = "xSclFG",
	  .may_not_fit = true,
	  .does_not = true },
	{ .name = "one without a loop is kept",
	  .natives = "jj",
	  .ruby = "F.G.",
	  .expected = "jjFG",
	  .may_not_fit = true,
	  .does_not = true },
	{ .name = "what there is no room for is the outermost",
	  .natives = "cl|ycl|m",
	  .ruby = "AB.CD.",
	  .expected = "clABycl",
	  .room = 7,
	  .is_cut = true },
	{ .name = "a cut stack fits a full room",
	  .natives = "abcd",
	  .ruby = "EF.",
	  .expected = "abcE",
	  .may_not_fit = true,
	  .does_not = true,
	  .room = 4,
	  .is_cut = true },
};

static u64 letter(char c)
{
	return c == '|' ? RUBY_MARK : (u64)c;
}

static void read_ruby(struct ruby_stack *stack, const char *text)
{
	stack->first = 1; /* as where there is no leaf */
	stack->count = 1;
	stack->activations = 0;
	stack->is_full = false;
	for (; *text != '\0'; text++) {
		u8 flags = 0;
		const char word = *text;

		for (; text[1] == '\'' || text[1] == '.'; text++)
			flags |= text[1] == '\'' ? RUBY_WORD_IS_C : RUBY_WORD_IS_LAST;
		ruby_stack_push(stack, (u64)word, flags);
	}
}

static void test_merging(void **state)
{
	static struct ruby_stack stack;

	(void)state;
	for (u32 i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct merge_case *c = &cases[i];
		struct ruby_natives natives = { .room = c->room != 0 ? c->room : MOST };
		u64 frames[MOST + 1] = { 0 };
		char found[MOST + 1] = "";

		natives.frames = frames;
		for (; c->natives[natives.count] != '\0'; natives.count++)
			frames[natives.count] = letter(c->natives[natives.count]);
		if (natives.count > natives.room)
			natives.count = natives.room;
		read_ruby(&stack, c->ruby);
		const bool fits = ruby_merge(&layout, &stack, !c->may_not_fit, &natives);

		for (u32 k = 0; k < natives.count; k++)
			found[k] = (char)frames[k];
		if (strcmp(found, c->expected) != 0)
			fail_msg("%s: %s, not %s", c->name, found, c->expected);
		if (fits == c->does_not || natives.is_full != c->is_cut)
			fail_msg("%s: fits %d, is_full %d", c->name, fits, natives.is_full);
	}
}

static void test_a_full_stack_says_so(void **state)
{
	static struct ruby_stack stack;

	(void)state;
	stack.count = RUBY_MAX_FRAMES;
	ruby_stack_push(&stack, 'A', 0);
	assert_true(stack.is_full);
	assert_int_equal(stack.count, RUBY_MAX_FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_a_full_stack_says_so),
	};

	return cmocka_run_group_tests_name("ruby_merge", tests, NULL, NULL);
}
