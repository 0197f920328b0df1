/*
 * test_against_elfutils - our rules and libdw's, on every row of real files.
 *
 * For each row of each function in .eh_frame, both are asked where a frame's CFA, return
 * address, rbp and rbx are.  They need not say it alike: our rule takes a step, libdw's
 * expressions are evaluated, on the same made-up registers and memory, and the caller's
 * registers must be equal.  Rows we do not support must be refused, and are named.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An ELF file as it would be mapped at address 0, and a stack far above it. */
struct mem {
	unsigned char *image;
	size_t image_len;
};

#define NATIVE_X86_64
#include "walk/native.h"

#define STACK_BASE 0x7ffe00000000ULL
#define REGISTERS  17

/* What the made-up stack holds: something else everywhere, aligned, above every frame. */
static uint64_t stack_word(uint64_t addr)
{
	return STACK_BASE + 0x10000000 + ((addr * 0x9e3779b97f4a7c15ULL >> 40) & 0xfffff8);
}

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (addr < mem->image_len && len <= mem->image_len - addr) {
		memcpy(dst, mem->image + addr, len);
		return 0;
	}
	if (addr < STACK_BASE - 0x10000000 || addr >= STACK_BASE + 0x20000000 || len != 8)
		return -1;
	uint64_t word = stack_word(addr);
	memcpy(dst, &word, len);
	return 0;
}

/* The caller's registers, and why they are not known. */
struct outcome {
	const char *unsupported;
	int is_last;
	uint64_t ip, sp, fp, bx;
	/* At the end of a function with __builtin_eh_return(): rbx's rule there is wrong. */
	int is_landing;
};

/* ---- libdw's opinion ---- */

struct machine {
	const uint64_t *regs;
	uint64_t cfa;
	uint64_t stack[16];
	size_t depth;
	int failed;
};

static uint64_t machine_pop(struct machine *m)
{
	if (m->depth == 0) {
		m->failed = 1;
		return 0;
	}
	return m->stack[--m->depth];
}

static void machine_push(struct machine *m, uint64_t value)
{
	if (m->depth == 16)
		m->failed = 1;
	else
		m->stack[m->depth++] = value;
}

static void machine_binary(struct machine *m, uint8_t op)
{
	uint64_t right = machine_pop(m);
	uint64_t left = machine_pop(m);

	switch (op) {
	case DW_OP_plus:
		machine_push(m, left + right);
		break;
	case DW_OP_minus:
		machine_push(m, left - right);
		break;
	case DW_OP_mul:
		machine_push(m, left * right);
		break;
	case DW_OP_and:
		machine_push(m, left & right);
		break;
	case DW_OP_shl:
		machine_push(m, left << (right & 63));
		break;
	case DW_OP_ge:
		machine_push(m, (int64_t)left >= (int64_t)right);
		break;
	default:
		m->failed = 1;
	}
}

static void machine_step(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg16)
		machine_push(m, m->regs[op->atom - DW_OP_breg0] + op->number);
	else if (op->atom == DW_OP_bregx && op->number < REGISTERS)
		machine_push(m, m->regs[op->number] + op->number2);
	else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		machine_push(m, op->atom - DW_OP_lit0);
	else if (op->atom == DW_OP_call_frame_cfa)
		machine_push(m, m->cfa);
	else if (op->atom == DW_OP_plus_uconst)
		machine_push(m, machine_pop(m) + op->number);
	else if (op->atom == DW_OP_deref)
		machine_push(m, stack_word(machine_pop(m)));
	else if (op->atom != DW_OP_stack_value)
		machine_binary(m, op->atom);
}

static int machine_run(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t *out)
{
	m->depth = 0;
	m->failed = 0;
	for (size_t i = 0; i < count; i++)
		machine_step(m, &ops[i]);
	*out = machine_pop(m);
	return m->failed ? -1 : 0;
}

/* The caller's value of one register; 0 for one that cannot be known to us. */
static const char *dw_register(Dwarf_Frame *frame, struct machine *m, int reg, uint64_t *value)
{
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0)
		return "libdw failed";
	if (count == 0) {
		if (ops != NULL)
			*value = 0;
		return ops == NULL ? NULL : "undefined";
	}
	if (count == 1 && (ops[0].atom == DW_OP_regx ||
			   (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
		uint64_t n = ops[0].number;
		if (ops[0].atom != DW_OP_regx)
			n = (uint64_t)ops[0].atom - DW_OP_reg0;
		*value = n < REGISTERS ? m->regs[n] : 0;
		return "in a register";
	}
	if (machine_run(m, ops, count, value) < 0)
		return "an expression";
	if (ops[count - 1].atom != DW_OP_stack_value)
		*value = stack_word(*value);
	return NULL;
}

/* OpenSSL keeps the caller's stack pointer in an array: *(rsp + 8 + r9 * 8) + 8. */
static int is_computed(const Dwarf_Op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom == DW_OP_mul)
			return 1;
	return 0;
}

static struct outcome dw_outcome(Dwarf_Frame *frame, const uint64_t *regs)
{
	struct outcome o = { .fp = regs[X86_RBP], .bx = regs[X86_RBX] };
	struct machine m = { .regs = regs };
	const char *why;
	Dwarf_Op *ops;
	size_t count;
	uint64_t sp;

	o.ip = regs[X86_RIP];
	why = dw_register(frame, &m, X86_RIP, &o.ip);
	if (why != NULL && strcmp(why, "undefined") == 0) {
		o.is_last = 1;
		return o;
	}
	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0 ||
	    machine_run(&m, ops, count, &m.cfa) < 0) {
		o.unsupported = "CFA is an expression of another kind";
		return o;
	}
	if (is_computed(ops, count))
		o.unsupported = "the CFA is an element of an array";
	o.sp = sp = m.cfa;
	why = dw_register(frame, &m, X86_RSP, &sp);
	if (sp != m.cfa)
		o.unsupported = "the stack pointer is not the CFA";
	dw_register(frame, &m, X86_RIP, &o.ip);
	if (dw_register(frame, &m, X86_RBP, &o.fp) != NULL)
		o.fp = 0;
	/* libdw's defaults of this ABI leave rbx out: an untouched one is undefined to it. */
	why = dw_register(frame, &m, X86_RBX, &o.bx);
	if (why != NULL)
		o.bx = strcmp(why, "undefined") == 0 ? regs[X86_RBX] : 0;
	return o;
}

/* ---- our opinion ---- */

static struct outcome our_outcome(struct mem *mem, const struct native_image *image,
				  const uint64_t *regs)
{
	struct outcome o = { 0 };
	struct native_step step;
	struct native_regs r = { .ip = regs[X86_RIP],
				 .sp = regs[X86_RSP],
				 .fp = regs[X86_RBP],
				 .bx = regs[X86_RBX] };
	uint64_t rule;
	enum walk_status status = native_rule_find(mem, image, r.ip, &rule);

	if (status != WALK_COMPLETE) {
		o.unsupported = status == WALK_BAD_RULE ? "bad rule" : "not found";
		return o;
	}
	u8 leaf = native_rule_leaf_register(rule);
	if (leaf < REGISTERS)
		r.lr = regs[leaf];
	status = native_step(mem, rule, &r, &step);
	if (status != WALK_COMPLETE) {
		o.unsupported = status == WALK_NO_PROGRESS ? "no progress" : "no step";
		return o;
	}
	o = (struct outcome){ .is_last = step.is_last };
	if (!step.is_last) {
		o.ip = r.ip;
		o.sp = r.sp;
		o.fp = r.fp;
		o.bx = r.bx;
		o.is_landing = x86_rule_is_landing(rule);
	}
	return o;
}

/* ---- the comparison ---- */

struct tally {
	uint64_t functions, rows, agreed, refused, disagreed;
};

static void compare(struct mem *mem, const struct native_image *image, Dwarf_Frame *frame,
		    uint64_t addr, uint64_t seed, struct tally *tally)
{
	uint64_t regs[REGISTERS];
	struct outcome theirs, ours;

	for (unsigned i = 0; i < REGISTERS; i++)
		regs[i] = STACK_BASE + 0x100000 * (i + 1) + (seed * (2 * i + 1) & 0xffff) * 8;
	regs[X86_RSP] = STACK_BASE + (seed & 0xff) * 16;
	regs[X86_RIP] = addr;
	theirs = dw_outcome(frame, regs);
	if (theirs.is_last)
		theirs = (struct outcome){ .is_last = 1 };
	ours = our_outcome(mem, image, regs);

	tally->rows++;
	if (theirs.unsupported != NULL && ours.unsupported != NULL) {
		tally->refused++;
		printf("  %#" PRIx64 ": not supported: %s\n", addr, theirs.unsupported);
	} else if (theirs.unsupported == NULL && ours.unsupported == NULL &&
		   ours.is_last == theirs.is_last && ours.ip == theirs.ip &&
		   ours.sp == theirs.sp && ours.fp == theirs.fp &&
		   (ours.bx == theirs.bx || ours.is_landing)) {
		tally->agreed++;
	} else if (tally->disagreed++ < 20) {
		printf("  %#" PRIx64 ": ours (%s) ip %#" PRIx64 " sp %#" PRIx64 " fp %#" PRIx64
		       " bx %#" PRIx64 " last %d, libdw (%s) ip %#" PRIx64 " sp %#" PRIx64
		       " fp %#" PRIx64 " bx %#" PRIx64 " last %d\n",
		       addr, ours.unsupported ? ours.unsupported : "ok", ours.ip, ours.sp,
		       ours.fp, ours.bx, ours.is_last,
		       theirs.unsupported ? theirs.unsupported : "ok", theirs.ip, theirs.sp,
		       theirs.fp, theirs.bx, theirs.is_last);
	}
}

/* Every row of the function that begins at `begin`, at its first and its last address. */
static void compare_function(struct mem *mem, const struct native_image *image, Dwarf_CFI *cfi,
			     uint64_t begin, uint64_t limit, struct tally *tally)
{
	Dwarf_Addr row_begin, row_end;
	bool is_signal_frame;

	tally->functions++;
	for (uint64_t at = begin; at < limit; at = row_end) {
		Dwarf_Frame *frame = NULL;
		if (dwarf_cfi_addrframe(cfi, at, &frame) != 0)
			return;
		dwarf_frame_info(frame, &row_begin, &row_end, &is_signal_frame);
		compare(mem, image, frame, at, at * 7 + 1, tally);
		if (row_end > at + 1)
			compare(mem, image, frame, row_end - 1, at * 13 + 5, tally);
		free(frame);
		if (row_end <= at)
			return;
	}
}

/* The functions, from the table in .eh_frame_hdr (its entries are datarel|sdata4). */
static void compare_functions(struct mem *mem, const struct native_image *image, Dwarf_CFI *cfi,
			      struct tally *tally)
{
	const unsigned char *hdr = mem->image + image->eh_frame_hdr;
	uint32_t count;
	int32_t begin, next;

	memcpy(&count, hdr + 8, sizeof count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t limit = image->end;
		memcpy(&begin, hdr + 12 + 8 * (size_t)i, sizeof begin);
		if (i + 1 < count) {
			memcpy(&next, hdr + 12 + 8 * (size_t)(i + 1), sizeof next);
			limit = image->eh_frame_hdr + (uint64_t)(int64_t)next;
		}
		compare_function(mem, image, cfi,
				 image->eh_frame_hdr + (uint64_t)(int64_t)begin, limit, tally);
	}
}

/* Lays the file out as the loader would. */
static void load_segments(Elf *elf, int fd, struct mem *mem, struct native_image *image)
{
	GElf_Phdr phdr;
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &phdr) == NULL)
			continue;
		if (phdr.p_type == PT_GNU_EH_FRAME) {
			image->eh_frame_hdr = phdr.p_vaddr;
			image->eh_frame_hdr_len = phdr.p_memsz;
		}
		if (phdr.p_type != PT_LOAD)
			continue;
		size_t end = phdr.p_vaddr + phdr.p_memsz;
		if (end > mem->image_len) {
			mem->image = realloc(mem->image, end);
			memset(mem->image + mem->image_len, 0, end - mem->image_len);
			mem->image_len = end;
		}
		if (pread(fd, mem->image + phdr.p_vaddr, phdr.p_filesz, (off_t)phdr.p_offset) <
		    0)
			perror("pread");
	}
	image->end = mem->image_len;
}

static int check_file(const char *path)
{
	struct mem mem = { 0 };
	struct native_image image = { 0 };
	struct tally tally = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		printf("%s: skipped: not on this machine\n", path);
		return 0;
	}
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	load_segments(elf, fd, &mem, &image);
	if (image.eh_frame_hdr == 0) {
		printf("%s: skipped: no .eh_frame_hdr\n", path);
	} else {
		Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
		compare_functions(&mem, &image, cfi, &tally);
		dwarf_cfi_end(cfi);
		printf("%s: %" PRIu64 " functions, %" PRIu64 " places: %" PRIu64
		       " agree, %" PRIu64 " not supported by name, %" PRIu64 " disagree\n",
		       path, tally.functions, tally.rows, tally.agreed, tally.refused,
		       tally.disagreed);
	}
	elf_end(elf);
	close(fd);
	free(mem.image);
	return tally.disagreed == 0 && (image.eh_frame_hdr == 0 || tally.agreed > 0) ? 0 : -1;
}

int main(int argc, char **argv)
{
	int failed = 0;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		failed |= check_file(argv[i]) < 0;
	return failed;
}
