/*
 * Finds ruby_global_symbols. rb_id2str() looks up a symbol's number: it compares it with
 * ruby_global_symbols.last_id and reads the array .ids, itself or in get_id_serial_entry()
 * (symbol.c). So the code takes the variable's address, or refers to it twice, at a distance
 * equal to that of the two members. In the file it is initialized with the number of the
 * parser's last token, and all its pointers are NULL (symbol.c: "= {tNEXT_ID-1}").
 */
#include "ruby_symbols.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "code_bytes.h"
#include "elf_file.h"
#include "frame_entries.h"
#include "tls_find.h"

/* Functions to examine: rb_id2str() and those it calls or jumps to. */
#define FUNCTIONS 16u
/* Variables that they refer to, at most. */
#define VARIABLES 64u
/* There are some 70 tokens after the operators. */
#define LAST_ID_MAX 4096u
/* Size of the first members of rb_symbols_t, up to and including ids. */
#define MEMBERS_MAX 64u

struct variable {
	uint64_t address;
	bool is_taken; /* its address is taken, rather than its value read */
};

struct search {
	const struct elf_file *elf;
	const struct frame_entries *entries;
	struct code_range functions[FUNCTIONS];
	size_t function_count;
	struct variable variables[VARIABLES];
	size_t variable_count;
};

/* Adds the function that begins here, unless it was added before. */
static void add_function(struct search *search, uint64_t address)
{
	struct frame_entry entry;

	if (search->function_count == FUNCTIONS ||
	    !frame_entries_find(search->elf, search->entries, address, &entry) ||
	    entry.range.start != address)
		return;
	for (size_t i = 0; i < search->function_count; i++) {
		if (search->functions[i].start == address)
			return;
	}
	search->functions[search->function_count++] = entry.range;
}

static void add_variable(struct search *search, uint64_t address, bool is_taken)
{
	const struct elf_file_load *load = elf_file_load_at(search->elf, address);

	if (load && load->is_writable && search->variable_count < VARIABLES)
		search->variables[search->variable_count++] =
			(struct variable){ address, is_taken };
}

/* Notes the function's references; with goes_on also the functions that it continues in. */
static void look_at(struct search *search, struct code_range function, bool goes_on)
{
	CLEANUP(code_bytes_done) struct code_bytes code;
	uint64_t target;

	if (!code_bytes_read(search->elf, function, &code))
		return;
	for (size_t at = 0; code_bytes_next(&code, CODE_REFERENCE_OPERAND, &at, &target);)
		add_variable(search, target, false);
	for (size_t at = 0; code_bytes_next(&code, CODE_REFERENCE_ADDRESS, &at, &target);)
		add_variable(search, target, true);
	if (!goes_on)
		return;
	for (size_t at = 0; code_bytes_next(&code, CODE_REFERENCE_JUMP, &at, &target);)
		add_function(search, target);
	for (size_t at = 0; code_bytes_next(&code, CODE_REFERENCE_CALL, &at, &target);)
		add_function(search, target);
}

static bool has_variable(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->variable_count; i++) {
		if (search->variables[i].address == address)
			return true;
	}
	return false;
}

/* Whether the bytes in the file are the variable's initial value. */
static bool looks_new(const struct elf_file *elf, const struct ruby_row *row, uint64_t address)
{
	const size_t size = row->offsets.symbols_ids + 8U;
	uint8_t members[MEMBERS_MAX], zeros[MEMBERS_MAX] = { 0 };
	uint32_t last_id;

	if (size > sizeof members || !elf_file_read(elf, address, members, size))
		return false;
	memcpy(&last_id, members, sizeof last_id);
	return last_id > row->last_operator_id && last_id < LAST_ID_MAX &&
	       memcmp(members + sizeof last_id, zeros, size - sizeof last_id) == 0;
}

static int choose(const struct search *search, const struct ruby_row *row,
		  uint64_t *out_address, struct error *err)
{
	uint64_t found = 0;

	for (size_t i = 0; i < search->variable_count; i++) {
		const uint64_t address = search->variables[i].address;

		if (address == found || !looks_new(search->elf, row, address) ||
		    !(search->variables[i].is_taken ||
		      has_variable(search, address + row->offsets.symbols_ids)))
			continue;
		if (found != 0)
			return error_set(err, -ENOTSUP,
					 "it seems to have two tables of symbols");
		found = address;
	}
	if (found == 0)
		return error_set(err, -ENOTSUP, "its table of symbols cannot be found");
	*out_address = found;
	return 0;
}

int ruby_symbols_find(const struct elf_file *elf, const struct frame_entries *entries,
		      const struct ruby_row *row, uint64_t *out_address, struct error *err)
{
	struct search search = { .elf = elf, .entries = entries };
	struct elf_file_symbol start;

	if (!elf_file_find_any(elf, "rb_id2str", &start))
		return error_set(err, -ENOTSUP, "it has no symbol rb_id2str");
	add_function(&search, start.address);
	for (size_t i = 0; i < search.function_count; i++)
		look_at(&search, search.functions[i], i == 0);
	return choose(&search, row, out_address, err);
}

/* rb_thread_current() is ruby_current_ec->thread_ptr->self. */
int ruby_context_find(struct elf_file *elf, const struct ruby_row *row,
		      struct tls_variable *out_variable, struct error *err)
{
	struct elf_file_symbol function;
	struct tls_loads loads;

	if (!elf_file_find_any(elf, "rb_thread_current", &function) ||
	    !tls_find_loads(elf, &function, out_variable, &loads))
		return error_set(err, -ENOTSUP,
				 "where it keeps its execution context is not known");
	if (loads.count >= 2 && (loads.offsets[0] != row->offsets.ec_thread ||
				 loads.offsets[1] != row->offsets.thread_self))
		return error_set(err, -ENOTSUP,
				 "its threads are not laid out as those of CRuby %u.%u are",
				 row->major, row->minor);
	return 0;
}
