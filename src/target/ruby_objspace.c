/*
 * Reads offsets out of rb_gc_count() (gc.c), whose machine code loads from one structure after
 * the other:
 *
 *	mov  ruby_current_vm_ptr@GOTPCREL(%rip), %rax
 *	mov  (%rax), %rax
 *	mov  0x518(%rax), %rax		vm->objspace
 *	mov  0x570(%rax), %rax		objspace->profile.count
 *	ret
 *
 * From 3.4 on it calls rb_gc_get_objspace(), which ends with the load of vm->objspace;
 * rb_gc_count() itself ends with the other load.
 */
#include "ruby_objspace.h"

#include <elf.h>
#include <string.h>

#include "base/memory.h"
#include "code_bytes.h"
#include "elf_file.h"

/* mov disp32(%rax), %rax */
static const uint8_t load[] = { 0x48, 0x8b, 0x80 };
#define LOAD_SIZE (sizeof load + sizeof(uint32_t))
/* add $8, %rsp: appears after a call. */
static const uint8_t leave[] = { 0x48, 0x83, 0xc4, 0x08 };
#define RETURN 0xc3

#define CODE_MAX 128u

/* The offset in a load of a word at code[at], or 0: there is no such load. */
static u16 offset_of_load(const struct code_bytes *code, size_t at)
{
	uint32_t offset;

	if (at > code->len || code->len - at < LOAD_SIZE ||
	    memcmp(code->bytes + at, load, sizeof load) != 0)
		return 0;
	memcpy(&offset, code->bytes + at + sizeof load, sizeof offset);
	return offset < RUBY_NO_FIELD && offset % sizeof(u64) == 0 ? (u16)offset : 0;
}

static bool returns(const struct code_bytes *code, size_t at)
{
	if (at < code->len && code->len - at > sizeof leave &&
	    memcmp(code->bytes + at, leave, sizeof leave) == 0)
		at += sizeof leave;
	return at < code->len && code->bytes[at] == RETURN;
}

/*
 * The offsets in the function's last loads: one, or two in sequence. False: its code has
 * another form.
 */
static bool find_loads(const struct elf_file *elf, const char *name, u16 *out_first,
		       u16 *out_second)
{
	CLEANUP(code_bytes_done) struct code_bytes code = { 0 };
	struct elf_file_symbol function;

	if (!elf_file_find_any(elf, name, &function) || function.size > CODE_MAX)
		return false;

	const struct code_range range = { function.address, function.address + function.size };

	if (!code_bytes_read(elf, range, &code))
		return false;
	for (size_t at = 0; at < code.len; at++) {
		*out_first = offset_of_load(&code, at);
		*out_second = offset_of_load(&code, at + LOAD_SIZE);
		if (*out_first != 0 &&
		    returns(&code, at + (*out_second != 0 ? 2 : 1) * LOAD_SIZE))
			return true;
	}
	return false;
}

bool ruby_objspace_find(const struct elf_file *elf, struct ruby_offsets *offsets)
{
	bool is_found = false;
	u16 first, second;

	if (elf->machine != EM_X86_64)
		return false;
	if (find_loads(elf, "rb_gc_count", &first, &second)) {
		offsets->objspace_count = second != 0 ? second : first;
		offsets->vm_objspace = second != 0 ? first : offsets->vm_objspace;
		is_found = second != 0;
	}
	if (find_loads(elf, "rb_gc_get_objspace", &first, &second) && second == 0) {
		offsets->vm_objspace = first;
		is_found = true;
	}
	return is_found;
}
