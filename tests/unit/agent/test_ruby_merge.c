/* test_ruby_merge - where Ruby's frames stand among the native ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "vantage/agent/ruby_merge.c"

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
	{ "nothing is nothing", "abm", "", "abm" },
	{ "an activation's frames stand behind its loop", "cl|m", "FM.", "clFMm" },
	{ "methods in C stand before the interpreter's own code", "zxcl|m", "S'FM.",
	  "zxSclFMm" },
	{ "the leaf may be in the interpreter, then it is no frame", "l|m", "S'FM.", "SlFMm" },
	{ "each activation has its own", "cl|yecl|m", "B.E'M.", "clByeEclMm" },
	{ "several methods in C may call each other", "xcl|m", "A'B'M.", "xABclMm" },
	{ "between frames of Ruby's own there is none", "cl|m", "FGH.", "clFGHm" },
	{ "one that is not entered yet is inside of all", "yecl|m", "B.E'M.", "ByeEclMm" },
	{ "one that has been left has no frames", "l|yecl|m", "E'M.", "lyeEclMm" },
	{ "frames of no activation stand behind the last", "cl|fm", "F.Z'", "clFZfm" },
	{ "without a loop they are inside of all", "fm", "Z'", "Zfm" },
	{ "two more than there are loops is no fit", "yecl|m", "A.B.E'M.", "yeclABEM", false,
	  true },
	{ "two less is none either", "cl|ycl|zcl|m", "M.", "clM", false, true },
	{ "a native stack that is not whole is cut", "xcl|ycl|", "S'F.G.", "xSclFG", true,
	  true },
	{ "one without a loop is kept", "jj", "F.G.", "jjFG", true, true },
	{ "what there is no room for is the outermost", "cl|ycl|m", "AB.CD.", "clABycl", false,
	  false, 7, true },
	{ "a cut stack fits a full room", "abcd", "EF.", "abcE", true, true, 4, true },
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
