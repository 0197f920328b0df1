/*
 * Reads the names of a build's instructions. insns_info.inc has one array of characters:
 * "nop\0getlocal\0setlocal\0…". First come the plain instructions, then as many traced ones
 * ("trace_nop", …), then, in a build with ZJIT (4.0), those that replace plain ones while
 * operands are profiled ("zjit_opt_plus", …). Only the number of the last kind differs between
 * builds of a version.
 */
#include "ruby_instructions.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "elf_file.h"

/* No other text begins like this. */
static const char first_names[] = "\0nop\0getlocal";
#define TRACING   "trace_"
#define PROFILING "zjit_"

/* Bytes read at once; the names of 320 instructions have 8 KiB. */
#define NAMES_SIZE 16384
#define CHUNK_SIZE ((size_t)65536)

static const struct {
	const char *name;
	u8 operator;
} operators[] = {
	{ "opt_plus", RUBY_OPERATOR_PLUS },
	{ "opt_minus", RUBY_OPERATOR_MINUS },
	{ "opt_mult", RUBY_OPERATOR_MULT },
	{ "opt_div", RUBY_OPERATOR_DIV },
	{ "opt_mod", RUBY_OPERATOR_MOD },
	{ "opt_eq", RUBY_OPERATOR_EQ },
	{ "opt_neq", RUBY_OPERATOR_NEQ },
	{ "opt_lt", RUBY_OPERATOR_LT },
	{ "opt_le", RUBY_OPERATOR_LE },
	{ "opt_gt", RUBY_OPERATOR_GT },
	{ "opt_ge", RUBY_OPERATOR_GE },
	{ "opt_ltlt", RUBY_OPERATOR_LTLT },
	{ "opt_and", RUBY_OPERATOR_AND },
	{ "opt_or", RUBY_OPERATOR_OR },
	{ "opt_aref", RUBY_OPERATOR_AREF },
	{ "opt_aset", RUBY_OPERATOR_ASET },
	{ "opt_aref_with", RUBY_OPERATOR_AREF_WITH },
	{ "opt_aset_with", RUBY_OPERATOR_ASET_WITH },
	{ "opt_length", RUBY_OPERATOR_LENGTH },
	{ "opt_size", RUBY_OPERATOR_SIZE },
	{ "opt_empty_p", RUBY_OPERATOR_EMPTY },
	{ "opt_succ", RUBY_OPERATOR_SUCC },
	{ "opt_not", RUBY_OPERATOR_NOT },
	{ "opt_nil_p", RUBY_OPERATOR_NIL_P },
	{ "opt_regexpmatch2", RUBY_OPERATOR_MATCH },
	{ "opt_str_freeze", RUBY_OPERATOR_STR_FREEZE },
	{ "opt_str_uminus", RUBY_OPERATOR_STR_UMINUS },
	{ "opt_newarray_max", RUBY_OPERATOR_NEWARRAY_MAX },
	{ "opt_newarray_min", RUBY_OPERATOR_NEWARRAY_MIN },
	{ "opt_newarray_send", RUBY_OPERATOR_NEWARRAY_SEND },
	{ "send", RUBY_OPERATOR_SEND },
	{ "opt_send_without_block", RUBY_OPERATOR_SEND },
	{ "leave", RUBY_OPERATOR_LEAVE },
	{ "opt_invokebuiltin_delegate_leave", RUBY_OPERATOR_BUILTIN },
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static u8 operator_of(const char *name)
{
	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
		if (strcmp(name, operators[i].name) == 0)
			return operators[i].operator;
	return RUBY_OPERATOR_NONE;
}

/* The file address of the first name; 0: not found. */
static uint64_t find_in_load(const struct elf_file *elf, const struct elf_file_load *load,
			     char *chunk)
{
	for (uint64_t at = 0; at < load->file_size; at += CHUNK_SIZE - sizeof first_names) {
		const uint64_t left = load->file_size - at;
		const size_t len = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;

		if (!elf_file_read_file(elf, load->offset + at, chunk, len))
			return 0;

		const char *found = memmem(chunk, len, first_names, sizeof first_names);

		if (found)
			return load->offset + at + (uint64_t)(found - chunk) + 1;
	}
	return 0;
}

/* Reads the names, from the first one on, NUL-terminated. */
static bool read_names(const struct elf_file *elf, char names[NAMES_SIZE])
{
	CLEANUP(freep) char *chunk = xmalloc(CHUNK_SIZE);
	uint64_t offset = 0;

	for (uint16_t i = 0; i < elf->load_count && offset == 0; i++)
		if (!elf->loads[i].is_writable)
			offset = find_in_load(elf, &elf->loads[i], chunk);
	if (offset == 0)
		return false;

	const uint64_t left = elf->size - offset;
	const size_t len = left < NAMES_SIZE - 1 ? (size_t)left : NAMES_SIZE - 1;

	names[len] = '\0';
	return elf_file_read_file(elf, offset, names, len);
}

/*
 * Counts the names, which must be complete: the plain ones, the same traced, and the rest.
 * Returns the number, or 0.
 */
static size_t count_names(const char *names, const char *starts[RUBY_MAX_INSTRUCTIONS])
{
	const char *name = names;
	size_t plain = 0, count = 0;

	for (; count < RUBY_MAX_INSTRUCTIONS && *name; name += strlen(name) + 1) {
		const bool is_double = begins_with(name, TRACING);

		if (is_double && plain == 0)
			plain = count;
		if (plain == 0          ? count > RUBY_MAX_INSTRUCTIONS / 2
		    : count < 2 * plain ? !is_double
					: !begins_with(name, PROFILING))
			break;
		starts[count++] = name;
	}
	if (plain == 0 || count < 2 * plain)
		return 0;
	for (size_t i = 0; i < plain; i++)
		if (strcmp(starts[plain + i] + strlen(TRACING), starts[i]) != 0)
			return 0;
	return count;
}

static u8 instruction_of(const char *name)
{
	if (begins_with(name, TRACING))
		name += strlen(TRACING);
	if (begins_with(name, PROFILING))
		name += strlen(PROFILING);
	return operator_of(name);
}

int ruby_instructions_find(const struct elf_file *elf, const struct ruby_row *row, size_t count,
			   u8 out_instructions[RUBY_MAX_INSTRUCTIONS], struct error *err)
{
	CLEANUP(freep) char *names = xmalloc(NAMES_SIZE);
	const char *starts[RUBY_MAX_INSTRUCTIONS];

	if (!read_names(elf, names) || count_names(names, starts) != count)
		return error_set(err, -ENOTSUP, "its instructions do not have %zu names",
				 count);
	if (row->instruction_count != 0 && row->instruction_count != count)
		return error_set(err, -ENOTSUP,
				 "it has %zu instructions, not the %u of CRuby %u.%u", count,
				 row->instruction_count, row->major, row->minor);
	for (size_t i = 0; i < count; i++) {
		const u8 operator= instruction_of(starts[i]);
		const u8 known = row->instruction_count != 0 ? row->instructions[i] : operator;

		if ((known & RUBY_INSTRUCTION_OPERATOR) != operator)
			return error_set(err, -ENOTSUP,
					 "its instruction %s is not where CRuby %u.%u has it",
					 starts[i], row->major, row->minor);
		out_instructions[i] = known;
	}
	return 0;
}
