/*
 * layout_check - checks that a layout's addresses are of this process's images.
 *
 * The agent calls functions at addresses of a layout, and reads data at others: each must be in
 * the image that has the interpreter's loop, code in an executable part; data may also be in the
 * program, which has copies of a library's data (R_COPY).  Offsets have 16 bits and are relative
 * to objects that a walk finds; they are not checked, since walks read by them only what can be
 * read (memory.h).  Thread-local variables are read so, too.
 */
#pragma once
#include <elf.h>
#include <stdbool.h>

#include "abi/python_layout.h"
#include "abi/ruby_layout.h"
#include "agent/core/image_parts.h"

static inline bool layout_is_code(const struct image_parts *image, u64 address)
{
	return image_parts_have(image, address, address + 1, PF_X);
}

static inline bool layout_is_code_or_none(const struct image_parts *image, u64 address)
{
	return address == 0 || layout_is_code(image, address);
}

/* The first range must exist; the later ones may be empty. */
static inline bool layout_are_ranges(const struct image_parts *image,
				     const struct code_range ranges[CODE_RANGES])
{
	for (u32 i = 0; i < CODE_RANGES; i++) {
		const bool is_none = ranges[i].start == 0 && ranges[i].end == 0;

		if (is_none && i > 0)
			continue;
		if (!image_parts_have(image, ranges[i].start, ranges[i].end, PF_X))
			return false;
	}
	return true;
}

static inline bool layout_is_data_or_none(const struct image_parts *image,
					  const struct image_parts *program, u64 address)
{
	const u64 end = address + sizeof(u64);

	return address == 0 || image_parts_have(image, address, end, PF_R) ||
	       image_parts_have(program, address, end, PF_R);
}

/* True also for no variable: a layout may need none. */
static inline bool layout_is_variable(const struct image_parts *image,
				      const struct tls_variable *variable)
{
	if (variable->means == TLS_BY_MODULE)
		return image_parts_have(image, variable->module, variable->module + sizeof(u64),
					PF_R);
	return variable->means == TLS_NONE || variable->means == TLS_STATIC;
}

static inline bool layout_is_sound_python(const struct python_layout *layout,
					  const struct image_parts *image,
					  const struct image_parts *program)
{
	const u64 data[] = { layout->code_type, layout->builtin_type, layout->descriptor_type,
			     layout->type_type, layout->none };

	for (u32 i = 0; i < sizeof data / sizeof data[0]; i++) {
		if (!layout_is_data_or_none(image, program, data[i]))
			return false;
	}
	return layout->chain >= PYTHON_CHAIN_OBJECTS && layout->chain <= PYTHON_CHAIN_SHIM &&
	       layout->position >= PYTHON_POSITION_BYTES &&
	       layout->position <= PYTHON_POSITION_POINTER &&
	       layout->table < PYTHON_TABLE_COUNT &&
	       layout->attributes <= PYTHON_ATTRIBUTES_INLINE &&
	       layout->state_means >= PYTHON_STATE_BY_CALL &&
	       layout->state_means <= PYTHON_STATE_BY_TLS &&
	       layout_are_ranges(image, layout->loop) &&
	       layout_is_code_or_none(image, layout->state_function) &&
	       layout_is_code_or_none(image, layout->head_function) &&
	       layout_is_variable(image, &layout->state);
}

static inline bool layout_is_sound_ruby(const struct ruby_layout *layout,
					const struct image_parts *image,
					const struct image_parts *program)
{
#define RUBY_FUNCTION_ADDRESS(name) layout->functions.name,
	const u64 functions[] = { RUBY_FUNCTION_MAP(RUBY_FUNCTION_ADDRESS) };
#undef RUBY_FUNCTION_ADDRESS

	for (u32 i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		if (!layout_is_code_or_none(image, functions[i]))
			return false;
	}
	for (u32 i = 0; i < RUBY_CLASS_COUNT; i++) {
		if (!layout_is_data_or_none(image, program, layout->classes[i]))
			return false;
	}
	return layout->is_known == 1 && layout->context_means >= RUBY_CONTEXT_BY_TLS &&
	       layout->context_means <= RUBY_CONTEXT_BY_LIST &&
	       layout->instruction_count <= RUBY_MAX_INSTRUCTIONS &&
	       /* A stack's length is divided by it. */
	       layout->offsets.frame_size != 0 && layout_are_ranges(image, layout->loop) &&
	       layout_are_ranges(image, layout->core) &&
	       layout_is_variable(image, &layout->context) &&
	       layout_is_data_or_none(image, program, layout->vm) &&
	       layout_is_data_or_none(image, program, layout->symbols);
}
