/*
 * Interprets code that accesses a thread-local variable in one of these ways (Ulrich Drepper, "ELF
 * Handling For Thread-Local Storage", 4.4; as gcc and clang generate them for x86-64):
 *
 *   a program's own        mov %fs:offset,%rax
 *                          mov $offset,%rax; mov %fs:(%rax),%rax
 *                          mov %fs:0,%rax; mov offset(%rax),%rax
 *   a library's            lea slot(%rip),%rdi; call __tls_get_addr; mov offset(%rax),%rax
 *
 * where the two words at `slot` are the module's TLS id, which the dynamic linker stores there,
 * and an offset in the module's block, to which the instruction's own offset is added.
 */
#include "tls_find.h"

#include <string.h>

#include "elf_file.h"

/* The function has some 60 bytes at most. */
#define CODE_MAX 128u

/* The kind of value in %rax. */
enum value_kind {
	VALUE_UNKNOWN,
	VALUE_NUMBER,  /* a constant */
	VALUE_POINTER, /* the thread pointer plus a constant */
	VALUE_BLOCK,   /* an address in the thread's block of a module */
};

struct machine {
	enum value_kind kind;
	int64_t number;  /* the constant, or the offset added */
	uint64_t slot;   /* %rdi: the address of a slot, if known */
	uint64_t module; /* VALUE_BLOCK: the slot it was computed from */
	bool has_loaded; /* the variable has been loaded */
};

enum action {
	ACTION_NOTHING,
	ACTION_SLOT,      /* lea disp32(%rip),%rdi */
	ACTION_CALL,      /* call */
	ACTION_NUMBER,    /* mov $imm32,%rax */
	ACTION_ADD,       /* lea disp(%rax),%rax; add $imm,%rax */
	ACTION_FS,        /* mov %fs:disp32,%rax */
	ACTION_FS_BY_RAX, /* mov %fs:(%rax),%rax */
	ACTION_LOAD,      /* mov disp(%rax),%rax */
};

/* An instruction: its first bytes, and the length of a signed operand. */
static const struct pattern {
	uint8_t bytes[5];
	uint8_t len;
	uint8_t operand;
	enum action action;
} patterns[] = {
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0, ACTION_NOTHING }, /* endbr64 */
	{ { 0x50 }, 1, 0, ACTION_NOTHING }, /* push %rax: stack alignment by clang */
	{ { 0x59 }, 1, 0, ACTION_NOTHING }, /* pop %rcx: undoes that */
	{ { 0x53 }, 1, 0, ACTION_NOTHING }, /* push %rbx */
	{ { 0x5b }, 1, 0, ACTION_NOTHING }, /* pop %rbx */
	{ { 0x55 }, 1, 0, ACTION_NOTHING }, /* push %rbp */
	{ { 0x5d }, 1, 0, ACTION_NOTHING }, /* pop %rbp */
	{ { 0x48, 0x89, 0xe5 }, 3, 0, ACTION_NOTHING }, /* mov %rsp,%rbp */
	{ { 0x48, 0x83, 0xec }, 3, 1, ACTION_NOTHING }, /* sub $imm,%rsp */
	{ { 0x48, 0x83, 0xc4 }, 3, 1, ACTION_NOTHING }, /* add $imm,%rsp */
	{ { 0x48, 0x8d, 0x3d }, 3, 4, ACTION_SLOT },
	{ { 0xe8 }, 1, 4, ACTION_CALL },
	{ { 0x48, 0xe8 }, 2, 4, ACTION_CALL },
	{ { 0xff, 0x15 }, 2, 4, ACTION_CALL },
	{ { 0x48, 0xff, 0x15 }, 3, 4, ACTION_CALL },
	{ { 0x48, 0xc7, 0xc0 }, 3, 4, ACTION_NUMBER },
	{ { 0x48, 0x8d, 0x80 }, 3, 4, ACTION_ADD },
	{ { 0x48, 0x8d, 0x40 }, 3, 1, ACTION_ADD },
	{ { 0x48, 0x05 }, 2, 4, ACTION_ADD },
	{ { 0x48, 0x83, 0xc0 }, 3, 1, ACTION_ADD },
	{ { 0x64, 0x48, 0x8b, 0x04, 0x25 }, 5, 4, ACTION_FS },
	{ { 0x64, 0x48, 0x8b, 0x00 }, 4, 0, ACTION_FS_BY_RAX },
	{ { 0x48, 0x8b, 0x80 }, 3, 4, ACTION_LOAD },
	{ { 0x48, 0x8b, 0x40 }, 3, 1, ACTION_LOAD },
	{ { 0x48, 0x8b, 0x00 }, 3, 0, ACTION_LOAD },
	{ { 0x66 }, 1, 0, ACTION_NOTHING }, /* a prefix that pads lea and call */
};

static const struct pattern *pattern_at(const uint8_t *code, size_t len)
{
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
		const struct pattern *p = &patterns[i];

		if (len >= (size_t)p->len + p->operand && memcmp(code, p->bytes, p->len) == 0)
			return p;
	}
	return NULL;
}

static int64_t operand_of(const struct pattern *pattern, const uint8_t *code)
{
	int32_t wide;

	if (pattern->operand == 0)
		return 0;
	if (pattern->operand == 1)
		return (int8_t)code[pattern->len];
	memcpy(&wide, code + pattern->len, sizeof wide);
	return wide;
}

/* %fs:0 holds the thread pointer itself; any other address is a variable's. */
static bool load_by_fs(struct machine *machine, int64_t offset)
{
	machine->kind = VALUE_POINTER;
	machine->number = offset;
	machine->has_loaded = offset != 0;
	return true;
}

/* Executes one instruction symbolically; false if its operands are unknown. */
static bool step(struct machine *machine, enum action action, int64_t operand, uint64_t next)
{
	switch (action) {
	case ACTION_NOTHING:
		return true;
	case ACTION_SLOT:
		machine->slot = next + (uint64_t)operand;
		return true;
	case ACTION_CALL:
		machine->kind = VALUE_BLOCK;
		machine->module = machine->slot;
		machine->number = 0;
		return machine->slot != 0;
	case ACTION_NUMBER:
		machine->kind = VALUE_NUMBER;
		machine->number = operand;
		return true;
	case ACTION_ADD:
		machine->number += operand;
		return machine->kind != VALUE_UNKNOWN;
	case ACTION_FS:
		return load_by_fs(machine, operand);
	case ACTION_FS_BY_RAX:
		return machine->kind == VALUE_NUMBER && load_by_fs(machine, machine->number);
	case ACTION_LOAD:
		machine->number += operand;
		machine->has_loaded = true;
		return machine->kind == VALUE_POINTER || machine->kind == VALUE_BLOCK;
	}
	return false;
}

/* The slot must be one in which the dynamic linker stores a module's TLS id. */
static bool resolve(struct elf_file *elf, const struct machine *machine,
		    struct tls_variable *out_tls)
{
	uint64_t offset = 0;

	if (machine->kind == VALUE_POINTER) {
		*out_tls = (struct tls_variable){ .means = TLS_STATIC,
						  .place = (u64)machine->number };
		return true;
	}
	if (!elf_file_is_module_slot(elf, machine->module) ||
	    !elf_file_read_pointer(elf, machine->module + 8, &offset))
		return false;
	*out_tls = (struct tls_variable){ .means = TLS_BY_MODULE,
					  .place = offset + (u64)machine->number,
					  .module = machine->module };
	return true;
}

/* Records a load that continues from the variable; false: the instruction is something else. */
static bool note_load(const struct pattern *pattern, int64_t operand, struct tls_loads *loads)
{
	if (pattern->action != ACTION_NOTHING && pattern->action != ACTION_LOAD)
		return false;
	if (pattern->action == ACTION_LOAD && loads->count < TLS_LOADS)
		loads->offsets[loads->count++] = operand;
	return true;
}

bool tls_find_loads(struct elf_file *elf, const struct elf_file_symbol *function,
		    struct tls_variable *out_tls, struct tls_loads *out_loads)
{
	size_t len = function->size < CODE_MAX ? function->size : CODE_MAX;
	struct machine machine = { VALUE_UNKNOWN, 0, 0, 0, false };
	bool goes_on = true;
	uint8_t code[CODE_MAX];

	*out_loads = (struct tls_loads){ .count = 0 };
	if (elf->machine != EM_X86_64 || !elf_file_read(elf, function->address, code, len))
		return false;
	for (size_t at = 0; at < len && goes_on;) {
		const struct pattern *pattern = pattern_at(code + at, len - at);

		if (!pattern)
			break;
		int64_t operand = operand_of(pattern, code + at);
		at += (size_t)pattern->len + pattern->operand;
		goes_on = machine.has_loaded ? note_load(pattern, operand, out_loads)
					     : step(&machine, pattern->action, operand,
						    function->address + at);
	}
	return machine.has_loaded && resolve(elf, &machine, out_tls);
}

bool tls_find(struct elf_file *elf, const struct elf_file_symbol *function,
	      struct tls_variable *out_tls)
{
	struct tls_loads loads;

	return tls_find_loads(elf, function, out_tls, &loads);
}
