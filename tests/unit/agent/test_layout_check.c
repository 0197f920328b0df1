/* Which layouts are of a process whose interpreter lies where these say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/interpreters/layout_check.h"

#define CODE    0x10000ULL
#define DATA    0x20000ULL
#define COPIES  0x50000ULL /* of the program */
#define NOWHERE 0x90000ULL

static const struct image_parts image = {
	.parts = { { .start = CODE - 0x1000, .end = CODE, .flags = PF_R },
		   { .start = CODE, .end = CODE + 0x1000, .flags = PF_R | PF_X },
		   { .start = DATA, .end = DATA + 0x1000, .flags = PF_R | PF_W } },
	.count = 3,
	.fixed = DATA,
	.fixed_end = DATA + 0x100,
};
static const struct image_parts program = {
	.parts = { { .start = COPIES - 0x1000, .end = COPIES, .flags = PF_R | PF_X },
		   { .start = COPIES, .end = COPIES + 0x1000, .flags = PF_R | PF_W } },
	.count = 2,
};

static struct python_layout sound_python(void)
{
	return (struct python_layout){
		.chain = PYTHON_CHAIN_SHIM,
		.position = PYTHON_POSITION_POINTER,
		.table = PYTHON_TABLE_LOCATIONS,
		.state_means = PYTHON_STATE_BY_CALL,
		.loop = { { CODE, CODE + 0x100 }, { CODE + 0x800, CODE + 0x1000 } },
		.state_function = CODE + 0x200,
		.head_function = CODE + 0x300,
		.code_type = DATA,
		.builtin_type = DATA + 8,
		.descriptor_type = 0,
		.type_type = COPIES + 0x10,
		.none = DATA + 0xff8,
	};
}

static struct ruby_layout sound_ruby(void)
{
	return (struct ruby_layout){
		.is_known = 1,
		.context_means = RUBY_CONTEXT_BY_TLS,
		.context = { .means = TLS_BY_MODULE, .module = DATA + 0x40 },
		.offsets.frame_size = 56,
		.loop = { { CODE, CODE + 0x100 } },
		.core = { { CODE + 0x100, CODE + 0x800 } },
		.vm = DATA,
		.symbols = DATA + 8,
		.classes = { COPIES },
		.functions.eval_string_protect = CODE + 0xf00,
		.instruction_count = RUBY_MAX_INSTRUCTIONS,
	};
}

#define PYTHON(field, bad)                                              \
	{                                                               \
#field, offsetof(struct python_layout, field),          \
			sizeof(((struct python_layout *)0)->field), bad \
	}
#define RUBY(field, bad)                                              \
	{                                                             \
#field, offsetof(struct ruby_layout, field),          \
			sizeof(((struct ruby_layout *)0)->field), bad \
	}

struct spoiled {
	const char *name;
	size_t offset, size;
	u64 bad;
};

static const struct spoiled of_python[] = {
	PYTHON(chain, 0),
	PYTHON(chain, PYTHON_CHAIN_SHIM + 1),
	PYTHON(position, 0),
	PYTHON(table, PYTHON_TABLE_COUNT),
	PYTHON(attributes, PYTHON_ATTRIBUTES_INLINE + 1),
	PYTHON(state_means, 0),
	PYTHON(state_means, 255),
	PYTHON(loop[0].start, 0),
	PYTHON(loop[0].start, CODE - 8),
	PYTHON(loop[0].start, CODE + 0x100),
	PYTHON(loop[0].end, ~0ULL),
	PYTHON(loop[0].end, CODE + 0x1001),
	PYTHON(loop[1].start, 0),
	PYTHON(loop[1].end, NOWHERE),
	PYTHON(loop[3].end, 1),
	PYTHON(state_function, 1),
	PYTHON(state_function, DATA),
	PYTHON(state_function, CODE + 0x1000),
	PYTHON(state_function,
	       COPIES - 0x1000), /* the program's code is not the interpreter's */
	PYTHON(head_function, NOWHERE),
	PYTHON(head_function, CODE - 1),
	PYTHON(code_type, NOWHERE),
	PYTHON(builtin_type, 1),
	PYTHON(descriptor_type, ~0ULL),
	PYTHON(type_type, COPIES + 0xff9), /* its last bytes are outside */
	PYTHON(none, DATA + 0xff9),
	PYTHON(state.means, TLS_BY_MODULE), /* its module is at 0 */
	PYTHON(state.means, 99),
};

static const struct spoiled of_ruby[] = {
	RUBY(is_known, 0),
	RUBY(is_known, 2),
	RUBY(context_means, 0),
	RUBY(context_means, 3),
	RUBY(context.means, 3),
	RUBY(context.module, 0),
	RUBY(context.module, NOWHERE),
	RUBY(offsets.frame_size, 0),
	RUBY(loop[0].end, NOWHERE),
	RUBY(core[0].start, 0),
	RUBY(core[0].end, DATA),
	RUBY(vm, NOWHERE),
	RUBY(symbols, ~0ULL),
	RUBY(classes[0], 1),
	RUBY(classes[RUBY_CLASS_COUNT - 1], NOWHERE),
	RUBY(functions.postponed_job_register_one, DATA),
	RUBY(functions.profile_frames, NOWHERE),
	RUBY(functions.id2name, 1),
	RUBY(instruction_count, RUBY_MAX_INSTRUCTIONS + 1),
};

static void test_a_layout_of_this_process_is_sound(void **state)
{
	struct python_layout python = sound_python();
	const struct ruby_layout ruby = sound_ruby();

	(void)state;
	assert_true(layout_is_sound_python(&python, &image, &program));
	assert_true(layout_is_sound_ruby(&ruby, &image, &program));
	python.state_function = python.head_function = 0;
	python.state_means = PYTHON_STATE_BY_TLS;
	python.state = (struct tls_variable){ .means = TLS_STATIC, .place = -64ULL };
	assert_true(layout_is_sound_python(&python, &image, &program));
}

static void test_with_one_address_elsewhere_it_is_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof of_python / sizeof of_python[0]; i++) {
		const struct spoiled *spoiled = &of_python[i];
		struct python_layout layout = sound_python();

		memcpy((char *)&layout + spoiled->offset, &spoiled->bad, spoiled->size);
		if (layout_is_sound_python(&layout, &image, &program))
			fail_msg("sound with %s = 0x%llx", spoiled->name,
				 (unsigned long long)spoiled->bad);
	}
	for (size_t i = 0; i < sizeof of_ruby / sizeof of_ruby[0]; i++) {
		const struct spoiled *spoiled = &of_ruby[i];
		struct ruby_layout layout = sound_ruby();

		memcpy((char *)&layout + spoiled->offset, &spoiled->bad, spoiled->size);
		if (layout_is_sound_ruby(&layout, &image, &program))
			fail_msg("sound with %s = 0x%llx", spoiled->name,
				 (unsigned long long)spoiled->bad);
	}
}

static void test_a_part_has_what_lies_in_it_as_a_whole(void **state)
{
	(void)state;
	assert_true(image_parts_have(&image, CODE, CODE + 0x1000, PF_X));
	assert_false(image_parts_have(&image, CODE, CODE, PF_X));
	assert_false(image_parts_have(&image, CODE + 1, CODE, PF_X));
	assert_false(image_parts_have(&image, CODE - 1, CODE + 1, PF_R));
	assert_false(image_parts_have(&image, ~0ULL, 8, 0));
	assert_false(image_parts_have(&image, DATA, DATA + 8, PF_X));
	/* What is read-only since relocation can be read, and not written. */
	assert_true(image_parts_have(&image, DATA, DATA + 8, PF_R));
	assert_false(image_parts_have(&image, DATA + 0xf8, DATA + 0x100, PF_W));
	assert_false(image_parts_have(&image, DATA + 0xfc, DATA + 0x104, PF_W));
	assert_true(image_parts_have(&image, DATA + 0x100, DATA + 0x108, PF_W));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_layout_of_this_process_is_sound),
		cmocka_unit_test(test_with_one_address_elsewhere_it_is_not),
		cmocka_unit_test(test_a_part_has_what_lies_in_it_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
