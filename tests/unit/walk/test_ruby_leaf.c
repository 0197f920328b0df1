/*
 * test_ruby_leaf - what an innermost frame does without a frame is known by its instruction, the
 * receiver on its stack, and the call's cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_image.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define VM_CLASS(n) CLASS(12 + RUBY_CLASS_##n)
#define CACHE       (TABLE + 0x3100)
#define FIXNUM(n)   ((uint64_t)(n) << 1 | 1)
#define FLONUM      0x4002ULL
#define SYMBOL      0x10cULL
#define VALUE_TRUE  0x14ULL

/* An object of one of the VM's own classes, or of another. */
static uint64_t put_object(struct mem *mem, unsigned object, uint64_t class)
{
	put_word(mem, OBJECT(object), 0x01);
	put_word(mem, OBJECT(object) + 8, class);
	return OBJECT(object);
}

/* The program, whose innermost frame has `before` right before its pc, and `at` at it. */
static struct mem *make_leaf(const struct ruby_layout *layout, unsigned before, unsigned at)
{
	struct mem *mem = make_program(layout);

	for (unsigned i = 0; i < RUBY_CLASS_COUNT; i++)
		put_word(mem, CLASS_AT(i), CLASS(12 + i));
	put_word(mem, CODE(3), INSTRUCTION(before));
	put_word(mem, CODE(3) + 8, 0); /* an operand */
	put_word(mem, CODE(3) + 16, INSTRUCTION(at));
	put_frame(mem, layout, 5, ISEQ(3), CODE(3) + 16, EP(5));
	put_word(mem, frame_at(layout, 5) + layout->offsets.frame_sp, EP(6));
	return mem;
}

static struct ruby_leaves leaves_of(struct mem *mem, const struct ruby_layout *layout)
{
	struct ruby_leaves leaves;
	struct ruby_walk walk = { 0 };
	struct ruby_frame frame = { 0 };

	assert_int_equal(ruby_begin(mem, layout, CONTEXT, &walk), 0);
	assert_int_equal(ruby_next(mem, &walk, &frame), RUBY_FRAME);
	ruby_leaves_read(mem, layout, &frame, &leaves);
	return leaves;
}

/* "Integer#+", or "" if it is nothing that has a name. */
static const char *name_of(struct mem *mem, const struct ruby_layout *layout,
			   const struct ruby_leaf *leaf)
{
	static struct name_text name, qualified, file;
	struct ruby_code code = { 0 };

	if (ruby_code_of_leaf(mem, layout, leaf, &code) < 0)
		return "";
	ruby_code_texts(mem, layout, &code, &name, &qualified, &file);
	assert_int_equal(file.length, 0);
	assert_true(code.iseq == 0 && qualified.length > name.length);
	assert_memory_equal(qualified.bytes + qualified.length - name.length, name.bytes,
			    name.length);
	qualified.bytes[qualified.length] = 0;
	return (const char *)qualified.bytes;
}

enum receiver { ON_NOTHING, ON_FIXNUM, ON_FLONUM, ON_SYMBOL, ON_NIL, ON_TRUE, ON_OBJECT };

static const struct {
	const char *name;
	uint8_t operation;
	uint8_t on, words_below;
	uint64_t class;
} operators[] = {
	{ "Integer#+", RUBY_OPERATOR_PLUS, ON_FIXNUM, 2, 0 },
	{ "Integer#+", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, VM_CLASS(INTEGER) },
	{ "Float#+", RUBY_OPERATOR_PLUS, ON_FLONUM, 2, 0 },
	{ "Float#+", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, VM_CLASS(FLOAT) },
	{ "String#+", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, VM_CLASS(STRING) },
	{ "Array#+", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, VM_CLASS(ARRAY) },
	{ "", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, VM_CLASS(HASH) },
	{ "", RUBY_OPERATOR_PLUS, ON_OBJECT, 2, CLASS(0) },
	{ "", RUBY_OPERATOR_PLUS, ON_NIL, 2, 0 },
	{ "", RUBY_OPERATOR_PLUS, ON_FIXNUM, 1, 0 },
	{ "Float#-", RUBY_OPERATOR_MINUS, ON_FLONUM, 2, 0 },
	{ "", RUBY_OPERATOR_MINUS, ON_OBJECT, 2, VM_CLASS(ARRAY) },
	{ "Integer#*", RUBY_OPERATOR_MULT, ON_FIXNUM, 2, 0 },
	{ "", RUBY_OPERATOR_MULT, ON_OBJECT, 2, VM_CLASS(STRING) },
	{ "Integer#/", RUBY_OPERATOR_DIV, ON_FIXNUM, 2, 0 },
	{ "Integer#%", RUBY_OPERATOR_MOD, ON_FIXNUM, 2, 0 },
	{ "String#==", RUBY_OPERATOR_EQ, ON_OBJECT, 2, VM_CLASS(STRING) },
	{ "Symbol#==", RUBY_OPERATOR_EQ, ON_SYMBOL, 2, 0 },
	{ "", RUBY_OPERATOR_EQ, ON_TRUE, 2, 0 },
	{ "", RUBY_OPERATOR_EQ, ON_OBJECT, 2, CLASS(0) },
	{ "String#!=", RUBY_OPERATOR_NEQ, ON_OBJECT, 2, VM_CLASS(STRING) },
	{ "Float#<", RUBY_OPERATOR_LT, ON_FLONUM, 2, 0 },
	{ "Integer#>=", RUBY_OPERATOR_GE, ON_FIXNUM, 2, 0 },
	{ "String#<<", RUBY_OPERATOR_LTLT, ON_OBJECT, 2, VM_CLASS(STRING) },
	{ "Array#<<", RUBY_OPERATOR_LTLT, ON_OBJECT, 2, VM_CLASS(ARRAY) },
	{ "", RUBY_OPERATOR_LTLT, ON_FIXNUM, 2, 0 },
	{ "Integer#&", RUBY_OPERATOR_AND, ON_FIXNUM, 2, 0 },
	{ "Hash#[]", RUBY_OPERATOR_AREF, ON_OBJECT, 2, VM_CLASS(HASH) },
	{ "", RUBY_OPERATOR_AREF, ON_NIL, 2, 0 },
	{ "", RUBY_OPERATOR_AREF, ON_FIXNUM, 2, 0 },
	{ "Array#[]=", RUBY_OPERATOR_ASET, ON_OBJECT, 3, VM_CLASS(ARRAY) },
	{ "", RUBY_OPERATOR_ASET, ON_OBJECT, 2, VM_CLASS(ARRAY) },
	{ "Hash#[]", RUBY_OPERATOR_AREF_WITH, ON_OBJECT, 1, VM_CLASS(HASH) },
	{ "Hash#[]=", RUBY_OPERATOR_ASET_WITH, ON_OBJECT, 2, VM_CLASS(HASH) },
	{ "String#length", RUBY_OPERATOR_LENGTH, ON_OBJECT, 1, VM_CLASS(STRING) },
	{ "Hash#size", RUBY_OPERATOR_SIZE, ON_OBJECT, 1, VM_CLASS(HASH) },
	{ "Array#empty?", RUBY_OPERATOR_EMPTY, ON_OBJECT, 1, VM_CLASS(ARRAY) },
	{ "String#succ", RUBY_OPERATOR_SUCC, ON_OBJECT, 1, VM_CLASS(STRING) },
	{ "NilClass#nil?", RUBY_OPERATOR_NIL_P, ON_NIL, 1, 0 },
	{ "", RUBY_OPERATOR_NIL_P, ON_FIXNUM, 1, 0 },
	{ "", RUBY_OPERATOR_NOT, ON_NIL, 1, 0 },
	{ "Regexp#=~", RUBY_OPERATOR_MATCH, ON_OBJECT, 2, VM_CLASS(REGEXP) },
	{ "String#freeze", RUBY_OPERATOR_STR_FREEZE, ON_NOTHING, 0, 0 },
	{ "String#-@", RUBY_OPERATOR_STR_UMINUS, ON_NOTHING, 0, 0 },
	{ "Array#max", RUBY_OPERATOR_NEWARRAY_MAX, ON_NOTHING, 0, 0 },
	{ "Array#min", RUBY_OPERATOR_NEWARRAY_MIN, ON_NOTHING, 0, 0 },
	{ "", RUBY_OPERATOR_LEAVE, ON_NOTHING, 0, 0 },
	{ "", RUBY_OPERATOR_BUILTIN, ON_NOTHING, 0, 0 },
	{ "", RUBY_OPERATOR_NONE, ON_NOTHING, 0, 0 },
};

static uint64_t receiver_of(struct mem *mem, const struct ruby_layout *layout, size_t i)
{
	switch (operators[i].on) {
	case ON_FIXNUM:
		return FIXNUM(77);
	case ON_FLONUM:
		return FLONUM;
	case ON_SYMBOL:
		return SYMBOL;
	case ON_NIL:
		return layout->nil;
	case ON_TRUE:
		return VALUE_TRUE;
	default:
		return put_object(mem, 0, operators[i].class);
	}
}

static void an_operator_is_named_by_what_it_works_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(operators) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		const size_t n = i / GENERATIONS;
		struct mem *mem = make_leaf(&layout, operators[n].operation, 0);

		print_message("%s: %zu %s\n", generations[i % GENERATIONS].name, n,
			      operators[n].name);
		/* Neighbours are of a class that every operator refuses. */
		for (unsigned word = 1; word <= 4; word++)
			put_word(mem, EP(6) - word * 8, put_object(mem, 1, VM_CLASS(COUNT)));
		put_word(mem, EP(6) - operators[n].words_below * 8ULL,
			 receiver_of(mem, &layout, n));
		const struct ruby_leaves leaves = leaves_of(mem, &layout);

		assert_string_equal(name_of(mem, &layout, &leaves.before), operators[n].name);
		assert_string_equal(name_of(mem, &layout, &leaves.at), "");
		free(mem);
	}
}

static void what_an_array_is_asked_for_is_an_operand(void **state)
{
	static const struct {
		const char *name;
		unsigned generation;
		uint64_t operand;
	} cases[] = {
		{ "Array#max", 4, 1 },           { "Array#min", 4, 2 },
		{ "Array#hash", 4, 3 },          { "Array#pack", 4, 4 },
		{ "Array#include?", 4, 6 },      { "", 4, 7 },
		{ "Array#each", 3, ID_OF(600) },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct ruby_layout layout = layout_of(&generations[cases[i].generation]);
		struct mem *mem = make_leaf(&layout, RUBY_OPERATOR_NEWARRAY_SEND, 0);

		/* Two operands: how many there are, and which method. */
		put_word(mem, CODE(3) + 16, cases[i].operand);
		put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 24, EP(5));
		const struct ruby_leaves leaves = leaves_of(mem, &layout);

		assert_string_equal(name_of(mem, &layout, &leaves.before), cases[i].name);
		free(mem);
	}
}

/* The innermost frame is about to call method 5 of class 0, by a cache made for that class. */
static struct mem *make_call(const struct ruby_layout *layout, uint32_t type)
{
	struct mem *mem = make_leaf(layout, RUBY_OPERATOR_SEND, 0);
	const int is_within = layout->offsets.call_data_cache == RUBY_NO_FIELD;
	const uint64_t data = TABLE + 0x3000, cache = is_within ? data : CACHE;

	put_symbol(mem, layout, ID_OF(650), 26, "size=");
	put_method(mem, layout, 5, 0, type, type == 0 ? ISEQ(4) : ID_OF(650));
	put_word(mem, DEFINITION(5) + layout->offsets.definition_id, ID_OF(650));
	put_iseq(mem, layout, 4, RUBY_ISEQ_METHOD, "builtin", 0);
	put_word(mem, CODE(4), INSTRUCTION(RUBY_OPERATOR_BUILTIN));
	put_word(mem, CODE(3) + 8, data);
	if (!is_within) {
		put_word(mem, data + layout->offsets.call_data_cache, cache);
		put_word(mem, cache + layout->offsets.cache_class, CLASS(0));
	}
	put_word(mem, cache + layout->offsets.cache_method, METHOD(5));
	for (unsigned word = 0; word <= 4; word++)
		put_word(mem, EP(6) - word * 8, FIXNUM(1));
	return mem;
}

enum { READER = 3, WRITER = 2, OPTIMIZED = 9, IN_C = 1, IN_RUBY = 0, BY_BLOCK = 4 };

static void a_call_that_makes_no_frame_is_named_by_its_cache(void **state)
{
	static const struct {
		uint32_t type;
		int receiver; /* where it stands, in words from the stack pointer; 1: nowhere */
		int is_named; /* 2: only where the class cannot be compared (2.7) */
	} cases[] = {
		{ READER, -1, 1 }, { READER, 0, 1 },    { READER, -2, 2 }, { READER, 1, 2 },
		{ WRITER, -2, 1 }, { WRITER, 0, 1 },    { WRITER, -1, 2 }, { IN_RUBY, -1, 1 },
		{ IN_RUBY, 1, 2 }, { OPTIMIZED, 1, 1 }, { IN_C, -1, 0 },   { BY_BLOCK, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		const size_t n = i / GENERATIONS;
		struct mem *mem = make_call(&layout, cases[n].type);

		print_message("%s: %zu\n", generations[i % GENERATIONS].name, n);
		if (cases[n].receiver <= 0)
			put_word(mem, EP(6) - 8ULL * (unsigned)-cases[n].receiver,
				 put_object(mem, 0, CLASS(0)));
		const struct ruby_leaves leaves = leaves_of(mem, &layout);

		assert_string_equal(
			name_of(mem, &layout, &leaves.before),
			cases[n].is_named == 1 || (cases[n].is_named == 2 &&
						   layout.offsets.cache_class == RUBY_NO_FIELD)
				? "Foo#size="
				: "");
		free(mem);
	}
}

static void numbers_have_methods_that_make_no_frame(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[4]);
	struct mem *mem = make_call(&layout, IN_RUBY);

	(void)state;
	put_word(mem, CACHE + layout.offsets.cache_class, VM_CLASS(INTEGER));
	struct ruby_leaves leaves = leaves_of(mem, &layout);

	assert_string_equal(name_of(mem, &layout, &leaves.before), "Foo#size=");
	/* A method that does more is called as any other. */
	put_word(mem, CODE(4), INSTRUCTION(RUBY_OPERATOR_PLUS));
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "");
	free(mem);
}

static void a_call_without_a_cache_is_not_named(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_call(&layout, OPTIMIZED);
	struct ruby_leaves leaves = leaves_of(mem, &layout);

	(void)state;
	assert_string_equal(name_of(mem, &layout, &leaves.before), "Foo#size=");
	put_word(mem, METHOD(5), RUBY_IMEMO_ISEQ); /* something else by now */
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "");
	put_word(mem, METHOD(5), RUBY_IMEMO_MENT);
	put_word(mem, CACHE + layout.offsets.cache_method, 0); /* an empty one */
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "");
	put_word(mem, CODE(3) + 8, NOWHERE);
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "");
	free(mem);
}

static void the_machine_shows_which_instruction_it_is(void **state)
{
	static const struct {
		const char *what;
		unsigned before, at;
		uint64_t address;
		int is_at;
	} cases[] = {
		{ "the one before", RUBY_OPERATOR_PLUS, SUCC_STAYS,
		  INSTRUCTION(RUBY_OPERATOR_PLUS) + 3, 0 },
		{ "the one at pc", RUBY_OPERATOR_PLUS, SUCC_STAYS, INSTRUCTION(SUCC_STAYS) + 3,
		  1 },
		{ "the one at pc, which has just begun", RUBY_OPERATOR_PLUS, RUBY_OPERATOR_SUCC,
		  INSTRUCTION(RUBY_OPERATOR_SUCC), 1 },
		{ "shared code, the one before has moved pc", RUBY_OPERATOR_PLUS, SUCC_STAYS,
		  INSTRUCTION(RUBY_OPERATOR_DIV), 0 },
		{ "shared code, the one before is done", PLUS_STAYS, SUCC_STAYS,
		  INSTRUCTION(RUBY_OPERATOR_DIV), 1 },
		{ "code of one that is like the one at pc", RUBY_OPERATOR_AREF, SUCC_STAYS,
		  INSTRUCTION(OTHER_SUCC_STAYS), 1 },
		{ "shared code, before all others", PLUS_STAYS, SUCC_STAYS, CORE + 4, 1 },
		{ "code in another part", PLUS_STAYS, SUCC_STAYS, CORE + CORE_LEN, 1 },
		{ "shared code, the one before does nothing that is shown", RUBY_OPERATOR_NONE,
		  SUCC_STAYS, INSTRUCTION(RUBY_OPERATOR_SEND), 1 },
		{ "shared code, the one before calls", RUBY_OPERATOR_SEND, SUCC_STAYS,
		  INSTRUCTION(RUBY_OPERATOR_DIV), 0 },
		{ "behind the code of the last", RUBY_OPERATOR_PLUS, OTHER_SUCC_STAYS,
		  CORE + CORE_LEN, 0 },
		{ "not known", PLUS_STAYS, RUBY_OPERATOR_SUCC, 0, 1 },
		{ "not known, the one before has moved pc", RUBY_OPERATOR_PLUS,
		  RUBY_OPERATOR_SUCC, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct ruby_layout layout = layout_of(&generations[2]);
		struct mem *mem = make_leaf(&layout, cases[i].before, cases[i].at);
		struct ruby_leaves leaves;
		const struct ruby_leaf *leaf;

		print_message("%s\n", cases[i].what);
		for (unsigned word = 1; word <= 4; word++)
			put_word(mem, EP(6) - word * 8, FIXNUM(1));
		leaves = leaves_of(mem, &layout);
		mem->reads = 0;
		leaf = ruby_leaves_choose(&layout, &leaves, cases[i].address);
		assert_int_equal(mem->reads, 0);
		assert_int_equal(leaf->stands_at, cases[i].is_at);
		assert_string_equal(name_of(mem, &layout, leaf),
				    cases[i].is_at                          ? "Integer#succ"
				    : cases[i].before == RUBY_OPERATOR_SEND ? ""
									    : "Integer#+");
		free(mem);
	}
}

static void code_begins_and_ends_somewhere(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_leaf(&layout, OTHER_STAYS, SUCC_STAYS);
	struct ruby_leaves leaves;

	(void)state;
	/* Nothing is before the first instruction. */
	put_frame(mem, &layout, 5, ISEQ(3), CODE(3), EP(5));
	leaves = leaves_of(mem, &layout);
	assert_int_equal(leaves.before.instruction, RUBY_NO_INSTRUCTION);
	assert_int_equal(leaves.at.instruction, OTHER_STAYS);
	/* Nothing is behind the last one. */
	put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 64, EP(5));
	put_word(mem, CODE(3) + 64, INSTRUCTION(SUCC_STAYS));
	leaves = leaves_of(mem, &layout);
	assert_int_equal(leaves.before.instruction, RUBY_OPERATOR_NONE);
	assert_int_equal(leaves.at.instruction, RUBY_NO_INSTRUCTION);
	/* Nothing is far away. */
	for (unsigned i = 0; i < 8; i++)
		put_word(mem, CODE(3) + i * 8, i == 1 ? INSTRUCTION(PLUS_STAYS) : 0);
	leaves = leaves_of(mem, &layout);
	assert_int_equal(leaves.before.instruction, RUBY_NO_INSTRUCTION);
	put_frame(mem, &layout, 5, ISEQ(3), CODE(3) + 56, EP(5));
	leaves = leaves_of(mem, &layout);
	assert_int_equal(leaves.before.instruction, PLUS_STAYS);
	free(mem);
}

static void what_is_below_the_first_value_is_no_receiver(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_leaf(&layout, RUBY_OPERATOR_PLUS, 0);
	const uint64_t sp = frame_at(&layout, 5) + layout.offsets.frame_sp;
	struct ruby_leaves leaves;

	(void)state;
	/* The operands have been taken off; the environment's flags look like a number. */
	put_word(mem, sp, EP(5) + 16);
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "");
	put_word(mem, EP(5) + 8, FIXNUM(1));
	put_word(mem, sp, EP(5) + 24);
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "Integer#+");
	/* Of an environment on the heap nothing is known. */
	put_env(mem, OBJECT(40), METHOD(3), 0, MAGIC_METHOD | IS_LOCAL | 4);
	put_word(mem, frame_at(&layout, 5) + layout.offsets.frame_ep, OBJECT(40));
	leaves = leaves_of(mem, &layout);
	assert_string_equal(name_of(mem, &layout, &leaves.before), "Integer#+");
	free(mem);
}

static void an_operand_is_no_instruction_though_it_be_an_address_in_the_code(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_leaf(&layout, RUBY_OPERATOR_SUCC, 0);

	(void)state;
	put_word(mem, CODE(3) + 8, INSTRUCTION(RUBY_OPERATOR_PLUS) + 4);
	assert_int_equal(leaves_of(mem, &layout).before.instruction, RUBY_OPERATOR_SUCC);
	put_word(mem, CODE(3) + 8, INSTRUCTION(RUBY_OPERATOR_PLUS));
	assert_int_equal(leaves_of(mem, &layout).before.instruction, RUBY_OPERATOR_PLUS);
	free(mem);
}

static void operators_on_other_classes_have_other_keys(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_leaf(&layout, RUBY_OPERATOR_PLUS, 0);
	uint64_t keys[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t receivers[] = { FIXNUM(1), FLONUM, FIXNUM(2) };
		struct ruby_leaves leaves;
		struct ruby_code code;

		put_word(mem, EP(6) - 16, receivers[i]);
		leaves = leaves_of(mem, &layout);
		assert_int_equal(ruby_code_of_leaf(mem, &layout, &leaves.before, &code), 0);
		keys[i] = ruby_code_key(mem, &layout, &code);
	}
	assert_int_not_equal(keys[0], keys[1]);
	assert_int_equal(keys[0], keys[2]);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operator_is_named_by_what_it_works_on),
		cmocka_unit_test(what_an_array_is_asked_for_is_an_operand),
		cmocka_unit_test(a_call_that_makes_no_frame_is_named_by_its_cache),
		cmocka_unit_test(numbers_have_methods_that_make_no_frame),
		cmocka_unit_test(a_call_without_a_cache_is_not_named),
		cmocka_unit_test(the_machine_shows_which_instruction_it_is),
		cmocka_unit_test(code_begins_and_ends_somewhere),
		cmocka_unit_test(what_is_below_the_first_value_is_no_receiver),
		cmocka_unit_test(
			an_operand_is_no_instruction_though_it_be_an_address_in_the_code),
		cmocka_unit_test(operators_on_other_classes_have_other_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
