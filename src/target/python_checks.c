#include "python_checks.h"

#include <string.h>

#include "elf_file.h"

/*
 * PyMemberDef: name, type, offset, flags, doc; the same in all versions (structmember.h,
 * later descrobject.h).
 */
#define MEMBER_SIZE   40u
#define MEMBER_OFFSET 16u
/* The longest list is the code object's, with some 20. */
#define MEMBERS_MAX 64u
#define NAME_SIZE   24u

/*
 * A member that a type lists under this name; types list others, too, and not every version
 * lists each.
 */
struct member_check {
	const char *type;
	const char *name;
	size_t field; /* in struct python_offsets */
	const char *objects;
	bool is_required;
};

#define FIELD(name) offsetof(struct python_offsets, name)

static const struct member_check members[] = {
	{ "PyCode_Type", "co_name", FIELD(code_name), "code objects", true },
	{ "PyCode_Type", "co_filename", FIELD(code_filename), "code objects", true },
	{ "PyCode_Type", "co_firstlineno", FIELD(code_first_line), "code objects", true },
	{ "PyCode_Type", "co_flags", FIELD(code_flags), "code objects", true },
	{ "PyCode_Type", "co_stacksize", FIELD(code_stack_size), "code objects", true },
	{ "PyCode_Type", "co_qualname", FIELD(code_qualname), "code objects", false },
	{ "PyCode_Type", "co_linetable", FIELD(code_table), "code objects", false },
	{ "PyFrame_Type", "f_back", FIELD(frame_previous), "frames", false },
	{ "PyFrame_Type", "f_code", FIELD(frame_code), "frames", false },
	{ "PyFrame_Type", "f_lasti", FIELD(frame_position), "frames", false },
	{ "PyCFunction_Type", "__module__", FIELD(builtin_module), "C functions", true },
	{ "PyMethodDescr_Type", "__objclass__", FIELD(descriptor_type), "methods", false },
};

/* Basic sizes of types to check. */
static const struct {
	const char *type;
	size_t field; /* in struct python_checks */
	const char *objects;
} sizes[] = {
	{ "PyCode_Type", offsetof(struct python_checks, code_size), "code objects" },
	{ "PyUnicode_Type", offsetof(struct python_checks, text_size), "strings" },
	{ "PyFrame_Type", offsetof(struct python_checks, frame_size), "frames" },
	{ "PyGen_Type", offsetof(struct python_checks, generator_size), "generators" },
};

static u16 u16_at(const void *object, size_t offset)
{
	u16 value;

	memcpy(&value, (const char *)object + offset, sizeof value);
	return value;
}

static bool size_agrees(struct elf_file *elf, const struct python_row *row, size_t i)
{
	struct elf_file_symbol type;
	uint64_t size;

	return elf_file_find_any(elf, sizes[i].type, &type) &&
	       elf_file_read(elf, type.address + row->checks.type_basic_size, &size,
			     sizeof size) &&
	       size == u16_at(&row->checks, sizes[i].field);
}

/* Finds the member in its type's list; false: it is not there. */
static bool find_member(struct elf_file *elf, const struct python_row *row,
			const struct member_check *check, uint64_t *out_offset)
{
	struct elf_file_symbol type;
	uint64_t list, name;
	char text[NAME_SIZE];

	if (!elf_file_find_any(elf, check->type, &type) ||
	    !elf_file_read_pointer(elf, type.address + row->checks.type_members, &list))
		return false;
	for (size_t i = 0; i < MEMBERS_MAX; i++, list += MEMBER_SIZE) {
		if (!elf_file_read_pointer(elf, list, &name) || name == 0 ||
		    !elf_file_read_text(elf, name, text, sizeof text))
			return false;
		if (strcmp(text, check->name) == 0)
			return elf_file_read(elf, list + MEMBER_OFFSET, out_offset,
					     sizeof *out_offset);
	}
	return false;
}

static bool member_agrees(struct elf_file *elf, const struct python_row *row,
			  const struct python_offsets *offsets,
			  const struct member_check *check)
{
	uint64_t offset;

	if (!find_member(elf, row, check, &offset))
		return !check->is_required;
	return offset == u16_at(offsets, check->field);
}

/* The walkers read the length, the hash and the state of a str at once (walk/python_text.h). */
static bool text_is_in_order(const struct python_offsets *offsets)
{
	return offsets->text_length == PYTHON_NO_FIELD ||
	       offsets->text_state == offsets->text_length + 2 * sizeof(uint64_t);
}

const char *python_checks_disagreement(struct elf_file *elf, const struct python_row *row,
				       const struct python_offsets *offsets)
{
	if (!text_is_in_order(offsets))
		return "strings";
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		if (!size_agrees(elf, row, i))
			return sizes[i].objects;
	}
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		if (!member_agrees(elf, row, offsets, &members[i]))
			return members[i].objects;
	}
	return NULL;
}
