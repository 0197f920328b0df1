/*
 * test_python_builtin - callables on a value stack, and what they are called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "python_memory_image.h"
#include "walk/python_builtin.h"

#define BUILTIN_TYPE    0x7107ULL
#define DESCRIPTOR_TYPE 0x7207ULL
#define TYPE_TYPE       0x7307ULL
#define OBJECT          FRAME(20)
#define SELF            FRAME(21)
#define TYPE            FRAME(22)
#define METHOD          FRAME(23)
#define FUNCTION        0x5000ULL

static struct python_layout layout_with_builtins(enum python_chain chain)
{
	struct python_layout layout = layout_of(chain);

	layout.builtin_type = BUILTIN_TYPE;
	layout.descriptor_type = DESCRIPTOR_TYPE;
	layout.type_type = TYPE_TYPE;
	layout.offsets.builtin_method = 16;
	layout.offsets.builtin_self = 24;
	layout.offsets.builtin_module = 32;
	layout.offsets.descriptor_type = 16;
	layout.offsets.descriptor_method = 40;
	layout.offsets.type_name = 24;
	layout.offsets.frame_locals = 80;
	layout.offsets.code_local_count = 100;
	layout.offsets.code_stack_size = 104;
	return layout;
}

static struct mem *memory_with_method(const char *name)
{
	struct mem *mem = calloc(1, sizeof *mem);

	put(mem, TEXT(0), name, strlen(name) + 1);
	put_word(mem, METHOD, TEXT(0));
	put_word(mem, METHOD + 8, FUNCTION);
	put(mem, TEXT(1), "list", 5);
	put_word(mem, TYPE + 8, TYPE_TYPE);
	put_word(mem, TYPE + 24, TEXT(1));
	put_word(mem, SELF + 8, TYPE);
	return mem;
}

static void put_builtin(struct mem *mem, uint64_t self, uint64_t module)
{
	put_word(mem, OBJECT + 8, BUILTIN_TYPE);
	put_word(mem, OBJECT + 16, METHOD);
	put_word(mem, OBJECT + 24, self);
	put_word(mem, OBJECT + 32, module);
}

static void assert_called(struct mem *mem, const char *name, const char *qualified)
{
	const struct python_layout layout = layout_with_builtins(PYTHON_CHAIN_SHIM);
	struct python_builtin builtin;
	struct name_text texts[2];

	assert_int_equal(python_builtin_read(mem, &layout, OBJECT, &builtin), 0);
	assert_true(builtin.function == FUNCTION);
	python_builtin_texts(mem, &layout, &builtin, &texts[0], &texts[1]);
	assert_int_equal(texts[0].length, strlen(name));
	assert_memory_equal(texts[0].bytes, name, texts[0].length);
	assert_int_equal(texts[1].length, strlen(qualified));
	assert_memory_equal(texts[1].bytes, qualified, texts[1].length);
}

static void a_modules_function_is_called_by_its_module(void **state)
{
	struct mem *mem = memory_with_method("sin");

	(void)state;
	put_ascii(mem, TEXT(2), "math");
	put_builtin(mem, SELF, TEXT(2));
	assert_called(mem, "sin", "math.sin");
	free(mem);
}

static void a_bound_method_by_the_type_of_its_object(void **state)
{
	struct mem *mem = memory_with_method("append");

	(void)state;
	put_builtin(mem, SELF, 0);
	assert_called(mem, "append", "list.append");
	/* A class method, by its class. */
	put_builtin(mem, TYPE, 0);
	assert_called(mem, "append", "list.append");
	put_builtin(mem, 0, 0);
	assert_called(mem, "append", "");
	free(mem);
}

static void a_method_descriptor_by_its_type(void **state)
{
	struct mem *mem = memory_with_method("append");

	(void)state;
	put_word(mem, OBJECT + 8, DESCRIPTOR_TYPE);
	put_word(mem, OBJECT + 16, TYPE);
	put_word(mem, OBJECT + 40, METHOD);
	assert_called(mem, "append", "list.append");
	free(mem);
}

static void other_objects_are_no_c_functions(void **state)
{
	const struct python_layout layout = layout_with_builtins(PYTHON_CHAIN_SHIM);
	struct mem *mem = memory_with_method("append");
	struct python_builtin builtin;

	(void)state;
	assert_true(python_builtin_read(mem, &layout, SELF, &builtin) < 0);
	assert_true(python_builtin_read(mem, &layout, NOWHERE, &builtin) < 0);
	put_builtin(mem, SELF, 0);
	mem->gap = METHOD + 8;
	assert_true(python_builtin_read(mem, &layout, OBJECT, &builtin) < 0);
	free(mem);
}

static void what_is_called_differently_has_another_key(void **state)
{
	const struct python_layout layout = layout_with_builtins(PYTHON_CHAIN_SHIM);
	struct mem *mem = memory_with_method("append");
	struct python_builtin builtin;
	uint64_t key;

	(void)state;
	put_builtin(mem, SELF, 0);
	assert_int_equal(python_builtin_read(mem, &layout, OBJECT, &builtin), 0);
	key = python_builtin_key(mem, &layout, &builtin);
	assert_int_equal(python_builtin_key(mem, &layout, &builtin), key);
	assert_int_equal(key & RING_NO_INSTRUCTION, 0);
	/* Another type of the heap, where one was. */
	put(mem, TEXT(1), "tree", 5);
	assert_int_not_equal(python_builtin_key(mem, &layout, &builtin), key);
	free(mem);
}

static void slots_are_between_the_locals_and_the_top(void **state)
{
	struct python_layout layout = layout_with_builtins(PYTHON_CHAIN_SHIM);
	struct mem *mem = calloc(1, sizeof *mem);
	const struct python_frame frame = { .address = FRAME(0), .code = CODE(0) };
	const uint64_t begin = FRAME(0) + 80 + 3 * 8;
	struct python_slots slots;

	(void)state;
	put_int(mem, CODE(0) + 100, 3);
	put_int(mem, CODE(0) + 104, 5);
	assert_int_equal(python_slots_of(mem, &layout, &frame, &slots), 0);
	assert_true(slots.begin == begin && slots.end == begin + 5 * 8);
	layout.offsets.frame_stack = 72;
	put_word(mem, FRAME(0) + 72, begin + 2 * 8);
	assert_int_equal(python_slots_of(mem, &layout, &frame, &slots), 0);
	assert_true(slots.begin == begin && slots.end == begin + 2 * 8);
	/* One that is of no such frame. */
	put_word(mem, FRAME(0) + 72, NOWHERE);
	assert_int_equal(python_slots_of(mem, &layout, &frame, &slots), 0);
	assert_true(slots.end == begin + 5 * 8);
	put_int(mem, CODE(0) + 104, -1);
	assert_true(python_slots_of(mem, &layout, &frame, &slots) < 0);
	free(mem);
}

static void slots_of_an_object_begin_behind_its_cells(void **state)
{
	const struct python_layout layout = layout_with_builtins(PYTHON_CHAIN_OBJECTS);
	struct mem *mem = calloc(1, sizeof *mem);
	struct python_frame frame = { .address = FRAME(0), .code = CODE(0) };
	const uint64_t begin = FRAME(0) + 80 + 5 * 8;
	struct python_slots slots;

	(void)state;
	put_int(mem, CODE(0) + 100, 3);
	put_int(mem, CODE(0) + 104, 4);
	put_word(mem, FRAME(0) + 64, begin);
	assert_int_equal(python_slots_of(mem, &layout, &frame, &slots), 0);
	assert_true(slots.begin == begin && slots.end == begin + 4 * 8);
	frame.address = NOWHERE;
	assert_true(python_slots_of(mem, &layout, &frame, &slots) < 0);
	free(mem);
}

static void a_slot_may_hold_anything(void **state)
{
	(void)state;
	assert_true(python_slot_object(0x7f0012345678) == 0x7f0012345678);
	assert_true(python_slot_object(0x7f0012345679) == 0x7f0012345678);
	assert_true(python_slot_object(0x7f001234567c) == 0);
	assert_true(python_slot_object(0) == 0);
	assert_true(python_slot_object(1) == 0);
	assert_true(python_slot_object(0x8000) == 0);
	assert_true(python_slot_object(0x3ff0000000000000) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_modules_function_is_called_by_its_module),
		cmocka_unit_test(a_bound_method_by_the_type_of_its_object),
		cmocka_unit_test(a_method_descriptor_by_its_type),
		cmocka_unit_test(other_objects_are_no_c_functions),
		cmocka_unit_test(what_is_called_differently_has_another_key),
		cmocka_unit_test(slots_are_between_the_locals_and_the_top),
		cmocka_unit_test(slots_of_an_object_begin_behind_its_cells),
		cmocka_unit_test(a_slot_may_hold_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
