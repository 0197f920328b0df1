/*
 * test_ruby_names - methods and blocks have the names of Ruby 3.4's backtraces, in every
 * version, and keys distinguish them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ruby_memory_image.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct texts {
	char name[NAME_TEXT_MAX + 1], qualified[NAME_TEXT_MAX + 1], file[NAME_TEXT_MAX + 1];
};

static void copy_text(char *to, const struct name_text *text)
{
	memcpy(to, text->bytes, text->length);
	to[text->length] = 0;
}

static struct texts texts_of(struct mem *mem, const struct ruby_layout *layout,
			     const struct ruby_code *code)
{
	struct name_text name, qualified, file;
	struct texts texts;

	assert_int_equal(ruby_code_texts(mem, layout, code, &name, &qualified, &file), 0);
	copy_text(texts.name, &name);
	copy_text(texts.qualified, &qualified);
	copy_text(texts.file, &file);
	return texts;
}

/* Frame n from the innermost, of the program that make_program() makes. */
static struct ruby_code code_at(struct mem *mem, const struct ruby_layout *layout, unsigned n)
{
	struct ruby_walk walk = { 0 };
	struct ruby_frame frame = { 0 };
	struct ruby_code code = { 0 };

	assert_int_equal(ruby_begin(mem, layout, CONTEXT, &walk), 0);
	for (unsigned i = 0; i <= n; i++)
		assert_int_equal(ruby_next(mem, &walk, &frame), RUBY_FRAME);
	assert_int_equal(ruby_code_read(mem, layout, &frame, &code), 0);
	return code;
}

static void frames_have_the_names_of_3_4(void **state)
{
	static const struct {
		const char *name, *qualified;
		int has_file;
	} expected[] = {
		{ "baz", "Foo.baz", 1 },     { "block in bar", "block in Foo#bar", 1 },
		{ "each", "Array#each", 0 }, { "bar", "Foo#bar", 1 },
		{ "<main>", "", 1 },
	};

	(void)state;
	for (size_t i = 0; i < GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i]);
		struct mem *mem = make_program(&layout);

		for (unsigned n = 0; n < COUNT(expected); n++) {
			const struct ruby_code code = code_at(mem, &layout, n);
			const struct texts texts = texts_of(mem, &layout, &code);

			assert_string_equal(texts.name, expected[n].name);
			assert_string_equal(texts.qualified, expected[n].qualified);
			assert_string_equal(texts.file,
					    expected[n].has_file
						    ? "/srv/a/path/of/some/length/app.rb"
						    : "");
			assert_int_equal(code.first_line, expected[n].has_file ? 7 : 0);
			assert_int_equal(code.iseq != 0, expected[n].has_file);
		}
		free(mem);
	}
}

/* What stands in what, outermost first; the innermost is what has the name. */
static const struct {
	const char *name;
	uint32_t types[6];
	size_t count;
} nestings[] = {
	{ "Foo#bar", { RUBY_ISEQ_METHOD }, 1 },
	{ "block in Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_BLOCK }, 2 },
	{ "block (2 levels) in Foo#bar",
	  { RUBY_ISEQ_METHOD, RUBY_ISEQ_BLOCK, RUBY_ISEQ_BLOCK },
	  3 },
	{ "Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_RESCUE }, 2 },
	{ "Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_ENSURE }, 2 },
	{ "Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_EVAL }, 2 },
	{ "block in Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_BLOCK, RUBY_ISEQ_RESCUE }, 3 },
	{ "block in Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_RESCUE, RUBY_ISEQ_BLOCK }, 3 },
	{ "block (2 levels) in Foo#bar",
	  { RUBY_ISEQ_METHOD, RUBY_ISEQ_BLOCK, RUBY_ISEQ_ENSURE, RUBY_ISEQ_BLOCK,
	    RUBY_ISEQ_EVAL },
	  5 },
	{ "label 0", { RUBY_ISEQ_MAIN }, 1 },
	{ "label 0", { RUBY_ISEQ_TOP }, 1 },
	{ "label 0", { RUBY_ISEQ_CLASS }, 1 },
	{ "label 0", { RUBY_ISEQ_MAIN, RUBY_ISEQ_EVAL }, 2 },
	{ "block in label 0", { RUBY_ISEQ_CLASS, RUBY_ISEQ_BLOCK }, 2 },
	{ "label 0", { RUBY_ISEQ_EVAL }, 1 },
	{ "label 0", { RUBY_ISEQ_BLOCK }, 1 },
	{ "block in Foo#bar", { RUBY_ISEQ_METHOD, RUBY_ISEQ_PLAIN }, 2 },
	{ "label 0", { RUBY_ISEQ_PLAIN }, 1 },
};

static void blocks_and_clauses_are_named_by_what_they_stand_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(nestings) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		const size_t count = nestings[i / GENERATIONS].count;
		struct mem *mem = make_program(&layout);

		print_message("%s: %zu\n", nestings[i / GENERATIONS].name, i / GENERATIONS);
		for (unsigned n = 0; n < count; n++)
			put_iseq(mem, &layout, 4 + n, nestings[i / GENERATIONS].types[n],
				 n > 0 ? "not this"
				 : nestings[i / GENERATIONS].types[0] == RUBY_ISEQ_METHOD
					 ? "bar"
					 : "label 0",
				 n == 0 ? 0 : ISEQ(3 + n));
		put_frame(mem, &layout, 4, ISEQ(3 + count), CODE(3 + count) + 8, EP(4));
		const struct ruby_code code = code_at(mem, &layout, 1);
		const struct texts texts = texts_of(mem, &layout, &code);

		assert_string_equal(texts.qualified[0] ? texts.qualified : texts.name,
				    nestings[i / GENERATIONS].name);
		free(mem);
	}
}

static void parents_are_not_followed_for_ever(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_program(&layout);

	(void)state;
	/* It stands in itself. */
	put_iseq(mem, &layout, 2, RUBY_ISEQ_BLOCK, "round", ISEQ(2));
	const struct ruby_code code = code_at(mem, &layout, 1);
	const struct texts texts = texts_of(mem, &layout, &code);

	assert_string_equal(texts.name, "block (64 levels) in round");
	assert_true(mem->reads < 1000);
	free(mem);
}

enum { CLASS_SINGLETON = 1, MODULE_REFINEMENT = 2, ICLASS = 4 };

/* The class of a method, 10, and another, 11, that it belongs to in one way or another. */
static const struct {
	const char *name, *what;
	uint64_t flags;
	const char *path; /* of 10 */
	int has_other;
	uint64_t other_flags;
	const char *other_path;
} owners[] = {
	{ "Foo#", "a class", RUBY_T_CLASS, "Foo", 0, 0, NULL },
	{ "Foo::Bar#", "a module", RUBY_T_MODULE, "Foo::Bar", 0, 0, NULL },
	{ "A::Path::Of::More::Than::Twenty::Bytes#", "a long one", RUBY_T_CLASS,
	  "A::Path::Of::More::Than::Twenty::Bytes", 0, 0, NULL },
	{ "\xc3\x84hre#", "a capital that is not ASCII", RUBY_T_CLASS, "\xc3\x84hre", 0, 0,
	  NULL },
	{ "", "one without a name", RUBY_T_CLASS, NULL, 0, 0, NULL },
	{ "", "one in such a one", RUBY_T_CLASS, "#<Class:0x000055d>::Foo", 0, 0, NULL },
	{ "", "a temporary name", RUBY_T_CLASS, "fake_name", 0, 0, NULL },
	{ "", "a temporary name that looks like none", RUBY_T_CLASS, "Foo::bar", 0, 0, NULL },
	{ "", "an empty name", RUBY_T_CLASS, "", 0, 0, NULL },
	{ "Bar.", "a class's singleton", RUBY_T_CLASS, NULL, CLASS_SINGLETON, RUBY_T_CLASS,
	  "Bar" },
	{ "Bar.", "a module's", RUBY_T_CLASS, NULL, CLASS_SINGLETON, RUBY_T_MODULE, "Bar" },
	{ "", "one's without a name", RUBY_T_CLASS, NULL, CLASS_SINGLETON, RUBY_T_CLASS, NULL },
	{ "", "an object's", RUBY_T_CLASS, NULL, CLASS_SINGLETON, 0x01, NULL },
	{ "Bar#", "a refinement", RUBY_T_MODULE | RUBY_IS_REFINEMENT, NULL, MODULE_REFINEMENT,
	  RUBY_T_CLASS, "Bar" },
	{ "Bar#", "a module in an ancestor's place", RUBY_T_ICLASS, NULL, ICLASS, RUBY_T_MODULE,
	  "Bar" },
	{ "", "no class at all", RUBY_T_STRING, "Foo", 0, 0, NULL },
};

static void put_owner(struct mem *mem, const struct ruby_layout *layout, size_t i)
{
	put_class(mem, layout, 10, owners[i].flags, owners[i].path,
		  owners[i].has_other & CLASS_SINGLETON ? CLASS(11) : 0);
	if (!owners[i].has_other)
		return;
	put_class(mem, layout, 11, owners[i].other_flags, owners[i].other_path, 0);
	if (owners[i].has_other == MODULE_REFINEMENT)
		put_word(mem, CLASS(10) + layout->offsets.refinement_class, CLASS(11));
	if (owners[i].has_other == ICLASS)
		put_word(mem, CLASS(10) + 8, CLASS(11));
}

static void a_method_is_named_after_whose_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(owners) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		struct mem *mem = make_program(&layout);
		struct ruby_owner owner;
		char text[100] = "";
		struct name_text name = { 0 };

		print_message("%s: %s\n", generations[i % GENERATIONS].name,
			      owners[i / GENERATIONS].what);
		put_owner(mem, &layout, i / GENERATIONS);
		ruby_class_owner(mem, &layout, CLASS(10), &owner);
		if (owner.path != 0) {
			ruby_text_append(mem, &layout, owner.path, &name);
			snprintf(text, sizeof text, "%.*s%c", name.length, name.bytes,
				 owner.separator);
		}
		assert_string_equal(text, owners[i / GENERATIONS].name);
		free(mem);
	}
}

static void a_modules_refinement_is_the_modules(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[4]);
	struct mem *mem = make_program(&layout);
	struct ruby_owner owner;

	(void)state;
	put_class(mem, &layout, 10, RUBY_T_MODULE | RUBY_IS_REFINEMENT, NULL, 0);
	put_class(mem, &layout, 11, RUBY_T_ICLASS, NULL, 0);
	put_class(mem, &layout, 12, RUBY_T_MODULE, "Enumerable", 0);
	put_word(mem, CLASS(10) + layout.offsets.refinement_class, CLASS(11));
	put_word(mem, CLASS(11) + 8, CLASS(12));
	ruby_class_owner(mem, &layout, CLASS(10), &owner);
	assert_int_equal(owner.path, TEXT(52));
	assert_int_equal(owner.separator, '#');
	free(mem);
}

static void a_method_of_a_class_without_a_name_has_a_bare_one(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_program(&layout);
	struct ruby_code code;
	struct texts texts;

	(void)state;
	put_class(mem, &layout, 10, RUBY_T_CLASS, NULL, 0);
	put_method(mem, &layout, 1, 10, 0, ISEQ(1));
	code = code_at(mem, &layout, 1);
	texts = texts_of(mem, &layout, &code);
	assert_string_equal(texts.name, "block in bar");
	assert_string_equal(texts.qualified, "");
	free(mem);
}

static void an_id_leads_to_its_name(void **state)
{
	static const struct {
		uint64_t id;
		const char *name;
	} ids[] = {
		{ ID_OF(600), "each" }, { ID_OF(600) | 6, "each" }, /* another scope */
		{ 151, "<=>" }, /* operators are their own numbers */
		{ ID_OF(601), "" },     { ID_OF(1023), "" },
		{ ID_OF(1024), "" }, /* behind the last unit */
		{ ID_OF(100000), "" },  { 0, "" },
		{ ~0ULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ids) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		struct mem *mem = make_program(&layout);
		struct name_text name = { 0 };
		char text[NAME_TEXT_MAX + 1];

		ruby_text_append(mem, &layout,
				 ruby_symbol_of(mem, &layout, ids[i / GENERATIONS].id), &name);
		copy_text(text, &name);
		assert_string_equal(text, ids[i / GENERATIONS].name);
		free(mem);
	}
}

static void names_may_be_in_embedded_arrays(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[3]);
	struct mem *mem = make_program(&layout);
	struct texts texts;
	struct ruby_code code = { 0 };

	(void)state;
	/* A path, and where that really leads. */
	put_word(mem, OBJECT(0),
		 RUBY_T_ARRAY | RUBY_ARRAY_IS_EMBED | 2ULL << RUBY_ARRAY_LEN_SHIFT);
	put_word(mem, OBJECT(0) + layout.offsets.array_embedded, TEXT(31));
	put_word(mem, BODY(3) + layout.offsets.body_path, OBJECT(0));
	code = code_at(mem, &layout, 0);
	texts = texts_of(mem, &layout, &code);
	assert_string_equal(texts.file, "/srv/a/path/of/some/length/app.rb");
	put_word(mem, OBJECT(0), RUBY_T_ARRAY | RUBY_ARRAY_IS_EMBED);
	code = code_at(mem, &layout, 0);
	texts = texts_of(mem, &layout, &code);
	assert_string_equal(texts.file, "");
	free(mem);
}

static void a_text_is_cut_where_it_must_be(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[4]);
	struct mem *mem = make_program(&layout);
	struct ruby_shape shape;
	struct name_text text = { 0 };
	char bytes[200];

	(void)state;
	memset(bytes, 'n', sizeof bytes);
	bytes[sizeof bytes - 1] = 0;
	put_text(mem, &layout, TEXT(0), bytes);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(ruby_text_append(mem, &layout, TEXT(0), &text), 0);
		assert_int_equal(text.is_cut, i == 5);
	}
	assert_int_equal(text.length, NAME_TEXT_MAX);
	/* Unreadable bytes, an absurd length, and no String. */
	text = (struct name_text){ 0 };
	mem->gap = TEXT(0) + 0x80;
	assert_true(ruby_text_append(mem, &layout, TEXT(0), &text) < 0);
	assert_int_equal(text.length, 0);
	mem->gap = 0;
	put_word(mem, TEXT(0) + layout.offsets.text_length, 1ULL << 32);
	assert_true(ruby_text_shape(mem, &layout, TEXT(0), &shape) < 0);
	put_word(mem, TEXT(0), RUBY_T_ARRAY);
	assert_true(ruby_text_shape(mem, &layout, TEXT(0), &shape) < 0);
	assert_true(ruby_text_shape(mem, &layout, NOWHERE, &shape) < 0);
	assert_true(ruby_text_shape(mem, &layout, TEXT(0) + 4, &shape) < 0);
	assert_true(ruby_text_shape(mem, &layout, 0, &shape) < 0);
	free(mem);
}

/* Half a name would be another's. */
static void what_cannot_be_read_to_its_end_is_no_name(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	static const uint64_t gaps[] = { TEXT(31), TEXT(31) + 0x80, TEXT(2),     TEXT(1),
					 TEXT(40), TEXT(40) + 24,   BODY(1) + 96 };
	struct mem *mem = make_program(&layout);
	const struct ruby_code code = code_at(mem, &layout, 1);
	struct name_text name, qualified, file;

	(void)state;
	assert_int_equal(ruby_code_texts(mem, &layout, &code, &name, &qualified, &file), 0);
	for (size_t i = 0; i < COUNT(gaps); i++) {
		/* A block's own label is not asked for: it is made of its method's. */
		const int is_asked = gaps[i] != TEXT(2) && gaps[i] != BODY(1) + 96;

		mem->gap = gaps[i];
		assert_int_equal(
			ruby_code_texts(mem, &layout, &code, &name, &qualified, &file) < 0,
			is_asked);
	}
	free(mem);
}

static void other_name(struct mem *mem, const struct ruby_layout *layout)
{
	put_text(mem, layout, TEXT(3), "bax");
}

static void longer_name(struct mem *mem, const struct ruby_layout *layout)
{
	put_text(mem, layout, TEXT(3), "baz?");
}

static void other_class(struct mem *mem, const struct ruby_layout *layout)
{
	put_text(mem, layout, TEXT(40), "Fop");
}

static void other_file(struct mem *mem, const struct ruby_layout *layout)
{
	put_text(mem, layout, TEXT(31), "/srv/a/path/of/some/length/apq.rb");
}

static void other_line(struct mem *mem, const struct ruby_layout *layout)
{
	put_int(mem, BODY(3) + layout->offsets.body_first_line, 17);
}

static void other_length(struct mem *mem, const struct ruby_layout *layout)
{
	put_int(mem, BODY(3) + layout->offsets.body_size, 7);
}

static void other_place_of_the_name(struct mem *mem, const struct ruby_layout *layout)
{
	put_text(mem, layout, TEXT(4), "baz");
	put_word(mem, BODY(3) + layout->offsets.body_label, TEXT(4));
}

static void behind_the_name(struct mem *mem, const struct ruby_layout *layout)
{
	put(mem, TEXT(3) + layout->offsets.text_embedded + 6, "x", 1);
}

static void a_mark_of_the_collector(struct mem *mem, const struct ruby_layout *layout)
{
	(void)layout;
	put_word(mem, TEXT(3), word_at(mem, TEXT(3)) | 1ULL << 5);
	put_word(mem, ISEQ(3), word_at(mem, ISEQ(3)) | 1ULL << 5);
}

static void a_key_says_what_code_is_and_not_only_where(void **state)
{
	static const struct {
		void (*change)(struct mem *mem, const struct ruby_layout *layout);
		int is_other;
	} changes[] = {
		{ other_name, 1 },
		{ longer_name, 1 },
		{ other_class, 1 },
		{ other_file, 1 },
		{ other_line, 1 },
		{ other_length, 1 },
		{ other_place_of_the_name, 1 },
		{ behind_the_name, 0 },
		{ a_mark_of_the_collector, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(changes) * GENERATIONS; i++) {
		const struct ruby_layout layout = layout_of(&generations[i % GENERATIONS]);
		struct mem *mem = make_program(&layout);
		struct ruby_code code = code_at(mem, &layout, 0);
		const uint64_t key = ruby_code_key(mem, &layout, &code);

		assert_true(key & RING_INTERPRETED);
		assert_int_equal(key & RING_NO_INSTRUCTION, 0);
		changes[i / GENERATIONS].change(mem, &layout);
		code = code_at(mem, &layout, 0);
		assert_int_equal(ruby_code_key(mem, &layout, &code) != key,
				 changes[i / GENERATIONS].is_other);
		free(mem);
	}
}

static void methods_in_c_have_keys_of_their_own(void **state)
{
	const struct ruby_layout layout = layout_of(&generations[1]);
	struct mem *mem = make_program(&layout);
	struct ruby_code code = code_at(mem, &layout, 2);
	const uint64_t key = ruby_code_key(mem, &layout, &code);

	(void)state;
	put_method(mem, &layout, 2, 2, 1, 151);
	code = code_at(mem, &layout, 2);
	assert_int_not_equal(ruby_code_key(mem, &layout, &code), key);
	assert_string_equal(texts_of(mem, &layout, &code).qualified, "Array#<=>");
	put_method(mem, &layout, 2, 2, 1, ID_OF(600));
	code = code_at(mem, &layout, 2);
	assert_int_equal(ruby_code_key(mem, &layout, &code), key);
	put_method(mem, &layout, 7, 2, 1, ID_OF(600));
	put_word(mem, EP(3) - 16, METHOD(7));
	code = code_at(mem, &layout, 2);
	assert_int_not_equal(ruby_code_key(mem, &layout, &code), key);
	put_word(mem, EP(3) - 16, METHOD(2));
	/* One and the same code may be a method of several classes. */
	put_method(mem, &layout, 2, 0, 1, ID_OF(600));
	code = code_at(mem, &layout, 2);
	assert_int_not_equal(ruby_code_key(mem, &layout, &code), key);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_the_names_of_3_4),
		cmocka_unit_test(blocks_and_clauses_are_named_by_what_they_stand_in),
		cmocka_unit_test(parents_are_not_followed_for_ever),
		cmocka_unit_test(a_method_is_named_after_whose_it_is),
		cmocka_unit_test(a_modules_refinement_is_the_modules),
		cmocka_unit_test(a_method_of_a_class_without_a_name_has_a_bare_one),
		cmocka_unit_test(an_id_leads_to_its_name),
		cmocka_unit_test(names_may_be_in_embedded_arrays),
		cmocka_unit_test(a_text_is_cut_where_it_must_be),
		cmocka_unit_test(what_cannot_be_read_to_its_end_is_no_name),
		cmocka_unit_test(a_key_says_what_code_is_and_not_only_where),
		cmocka_unit_test(methods_in_c_have_keys_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
