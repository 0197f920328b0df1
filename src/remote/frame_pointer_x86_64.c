/*
 * Finds a function's frame pointer on x86-64 by its prologue, or by return addresses on the
 * stack.
 */
#include "remote/frame_pointer.h"

#if defined(__x86_64__)
#include "remote/memory.h"
#include "walk/native.h"
#include "walk/native_x86_64_insn.h"

/* No prologue is longer (bytes). */
#define PROLOGUE_MAX 256U
/* Words of stack to scan. */
#define SCAN_MAX 4096U
#define PLT_MAX  3

bool frame_pointer_is_needed(uint64_t rule)
{
	const uint64_t form = rule & 15;

	if (form == X86_FORM_LAST)
		return false;
	return form == X86_FORM_FP || form == X86_FORM_DEREF_FP ||
	       (rule >> (X86_FP_SHIFT + X86_SAVED_SLOT_BITS) & 3) == X86_SAVED_AT_FP ||
	       (rule >> (X86_BX_SHIFT + X86_SAVED_SLOT_BITS) & 3) == X86_SAVED_AT_FP;
}

/* How one instruction changes the distance between stack pointer and frame pointer. */
enum effect {
	EFFECT_NONE,
	EFFECT_MOVES,  /* moves the stack pointer by a known distance */
	EFFECT_FRAME,  /* mov %rsp,%rbp */
	EFFECT_FLOW,   /* jumps or calls */
	EFFECT_ENDS,   /* jumps unconditionally, or returns */
	EFFECT_UNKNOWN /* moves the stack pointer by an unknown distance, or leaves the frame */
};

static bool is_frame(const struct x86_insn *insn)
{
	return insn->is_wide && !insn->is_memory &&
	       ((insn->opcode == 0x89 && insn->reg == X86_SP && insn->rm == X86_BP) ||
		(insn->opcode == 0x8b && insn->reg == X86_BP && insn->rm == X86_SP));
}

static enum effect effect_of_one(const struct x86_insn *insn, int64_t *out_bytes)
{
	const uint8_t opcode = insn->opcode;

	if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a ||
	    (opcode == 0xff && (insn->reg & 7) == 6)) {
		*out_bytes = 8;
		return EFFECT_MOVES;
	}
	if ((opcode & 0xf8) == 0x58 || opcode == 0xc9 || opcode == 0xc8)
		return EFFECT_UNKNOWN;
	if (is_frame(insn))
		return EFFECT_FRAME;
	if ((opcode == 0x81 || opcode == 0x83) && !insn->is_memory && insn->rm == X86_SP) {
		*out_bytes = (insn->reg & 7) == 5 ? insn->immediate : -insn->immediate;
		return (insn->reg & 7) == 5 || (insn->reg & 7) == 0 ? EFFECT_MOVES
								    : EFFECT_UNKNOWN;
	}
	if (opcode == 0xc3 || opcode == 0xc2 || opcode == 0xe9 || opcode == 0xeb ||
	    (opcode == 0xff && (insn->reg & 7) == 4))
		return EFFECT_ENDS;
	if (opcode == 0xe8 || opcode >> 4 == 7 || (opcode == 0xff && (insn->reg & 7) == 2))
		return EFFECT_FLOW;
	if (x86_insn_writes(insn) == X86_SP)
		return EFFECT_UNKNOWN;
	return EFFECT_NONE;
}

static enum effect effect_of(const struct x86_insn *insn, int64_t *out_bytes)
{
	if (insn->map == X86_MAP_ONE && !insn->is_vector)
		return effect_of_one(insn, out_bytes);
	if (insn->map == X86_MAP_0F && !insn->is_vector && insn->opcode >> 4 == 8)
		return EFFECT_FLOW;
	return x86_insn_writes(insn) == X86_SP ? EFFECT_UNKNOWN : EFFECT_NONE;
}

/* Measures, along the prologue, how far the stack pointer is below the frame pointer at pc. */
static bool measure_prologue(struct mem *mem, uint64_t begin, uint64_t pc, int64_t *out_depth)
{
	int64_t depth = 0, bytes = 0;
	bool has_frame = false;
	struct x86_insn insn;

	for (uint64_t at = begin; at < pc && at - begin < PROLOGUE_MAX; at += insn.at) {
		if (x86_insn_read(mem, at, &insn) == 0)
			break; /* a system call, or what no compiler writes into a prologue */
		const enum effect effect = effect_of(&insn, &bytes);

		if (effect == EFFECT_FRAME) {
			has_frame = true;
			depth = 0;
		}
		if (effect == EFFECT_MOVES)
			depth += bytes;
		if (effect == EFFECT_UNKNOWN)
			return false;
		if (effect == EFFECT_ENDS || (effect == EFFECT_FLOW && has_frame))
			break;
	}
	*out_depth = depth;
	return has_frame && depth >= 0;
}

/* The target of a jump through a slot, jmp *slot(%rip), perhaps after endbr64 or bnd. */
static bool follow_plt(struct mem *mem, uint64_t at, uint64_t *out_target)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[11];
	int32_t distance;
	uint32_t i = 0;

	if (mem_read(mem, code, sizeof code, at) < 0)
		return false;
	if (x86_are_same(code, endbr, sizeof endbr))
		i = sizeof endbr;
	if (code[i] == 0xf2)
		i++;
	if (code[i] == 0xe9 && i == 0) {
		__builtin_memcpy(&distance, code + 1, sizeof distance);
		*out_target = at + 5 + (uint64_t)(int64_t)distance;
		return true;
	}
	if (i + 6 > sizeof code || code[i] != 0xff || code[i + 1] != 0x25)
		return false;
	__builtin_memcpy(&distance, code + i + 2, sizeof distance);
	return mem_read(mem, out_target, sizeof *out_target,
			at + i + 6 + (uint64_t)(int64_t)distance) >= 0;
}

static bool leads_to(struct mem *mem, uint64_t target, uint64_t begin)
{
	for (int i = 0; i < PLT_MAX && target != begin; i++) {
		if (!follow_plt(mem, target, &target))
			return false;
	}
	return target == begin;
}

enum call_kind {
	CALL_NONE,   /* no call, or of another function */
	CALL_OF_IT,  /* a call of the function that begins at `begin` */
	CALL_UNKNOWN /* an indirect call */
};

/* Which kind of call the instruction that ends at `at` is. */
static enum call_kind call_before(struct mem *mem, uint64_t at, uint64_t begin)
{
	uint8_t code[6];
	int32_t distance;
	uint64_t target;

	if (at < MEMORY_PAGE || !native_follows_call(mem, at) ||
	    mem_read(mem, code, sizeof code, at - sizeof code) < 0)
		return CALL_NONE;
	__builtin_memcpy(&distance, code + 2, sizeof distance);
	target = at + (uint64_t)(int64_t)distance;
	if (code[1] == 0xe8 && leads_to(mem, target, begin))
		return CALL_OF_IT;
	if (code[0] == 0xff && code[1] == 0x15)
		return mem_read(mem, &target, sizeof target, target) >= 0 &&
				       leads_to(mem, target, begin)
			       ? CALL_OF_IT
			       : CALL_NONE;
	return code[1] == 0xe8 ? CALL_NONE : CALL_UNKNOWN;
}

static enum call_kind call_of_frame(struct mem *mem, uint64_t begin, uint64_t fp)
{
	uint64_t address;

	if (mem_read(mem, &address, sizeof address, fp + 8) < 0)
		return CALL_NONE;
	return call_before(mem, address, begin);
}

enum frame_pointer_means frame_pointer_find(struct mem *mem, uint64_t begin, uint64_t pc,
					    uint64_t sp, uint64_t *out_fp)
{
	int64_t depth;

	if (measure_prologue(mem, begin, pc, &depth) &&
	    call_of_frame(mem, begin, sp + (uint64_t)depth) != CALL_NONE) {
		*out_fp = sp + (uint64_t)depth;
		return FRAME_POINTER_BY_PROLOGUE;
	}
	for (uint64_t i = 0; i < SCAN_MAX; i++) {
		if (call_of_frame(mem, begin, sp + i * 8) != CALL_OF_IT)
			continue;
		*out_fp = sp + i * 8;
		return FRAME_POINTER_BY_SCAN;
	}
	return FRAME_POINTER_UNKNOWN;
}
#endif
