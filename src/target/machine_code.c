#include "machine_code.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

static int32_t s32_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/*
 * lea disp32(%rip), r64: REX.W 8D /r with mod 0, rm 5; mov $imm32, r32: B8 + r, in programs at
 * fixed addresses; jmp rel32: E9; jcc rel32: 0F 8x; call rel32: E8; mov, cmp disp32(%rip): 8B,
 * 39 or 3B /r, with or without a REX prefix, which does not affect the address. Jumps with
 * 8-bit displacements stay within their function. (Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2.)
 */
static struct code_reference x86_64_at(const uint8_t *code, size_t len, uint64_t address)
{
	if (len >= 7 && (code[0] & 0xfb) == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 0x05)
		return (struct code_reference){ CODE_REFERENCE_ADDRESS,
						address + 7 + (int64_t)s32_at(code + 3) };
	if (len >= 5 && (code[0] & 0xf8) == 0xb8)
		return (struct code_reference){ CODE_REFERENCE_ADDRESS, u32_at(code + 1) };
	if (len >= 5 && code[0] == 0xe9)
		return (struct code_reference){ CODE_REFERENCE_JUMP,
						address + 5 + (int64_t)s32_at(code + 1) };
	if (len >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		return (struct code_reference){ CODE_REFERENCE_JUMP,
						address + 6 + (int64_t)s32_at(code + 2) };
	if (len >= 5 && code[0] == 0xe8)
		return (struct code_reference){ CODE_REFERENCE_CALL,
						address + 5 + (int64_t)s32_at(code + 1) };
	if (len >= 6 && (code[0] == 0x8b || code[0] == 0x39 || code[0] == 0x3b) &&
	    (code[1] & 0xc7) == 0x05)
		return (struct code_reference){ CODE_REFERENCE_OPERAND,
						address + 6 + (int64_t)s32_at(code + 2) };
	return (struct code_reference){ CODE_REFERENCE_NONE, 0 };
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/*
 * adrp xd, page, and within the next few instructions add xd, xd, #imm12, or ldr wt or xt,
 * [xd, #imm12].
 */
static struct code_reference address_pair(const uint8_t *code, size_t len, uint64_t address)
{
	uint32_t adrp = u32_at(code);
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	uint64_t page = (address & ~0xfffULL) + (uint64_t)sign_extend(pages << 12, 33);

	for (size_t at = 4; at + 4 <= len && at <= 32; at += 4) {
		uint32_t next = u32_at(code + at), number = next >> 10 & 0xfff;

		if ((next >> 5 & 31) != (adrp & 31))
			continue;
		if ((next & 0xffc00000) == 0x91000000)
			return (struct code_reference){ CODE_REFERENCE_ADDRESS, page + number };
		if ((next & 0xbfc00000) == 0xb9400000)
			return (struct code_reference){ CODE_REFERENCE_OPERAND,
							page + (number << (next >> 30)) };
	}
	return (struct code_reference){ CODE_REFERENCE_NONE, 0 };
}

/*
 * b and bl imm26; b.cond and cbz/cbnz imm19; tbz/tbnz imm14.  (Arm Architecture Reference
 * Manual for A-profile, C4.1.)
 */
static struct code_reference aarch64_at(const uint8_t *code, size_t len, uint64_t address)
{
	if (address % 4 != 0 || len < 4)
		return (struct code_reference){ CODE_REFERENCE_NONE, 0 };

	enum code_reference_kind kind = CODE_REFERENCE_JUMP;
	uint32_t word = u32_at(code);
	int64_t distance;

	if ((word & 0x9f000000) == 0x90000000)
		return address_pair(code, len, address);
	if ((word & 0x7c000000) == 0x14000000) {
		kind = word >> 31 != 0 ? CODE_REFERENCE_CALL : CODE_REFERENCE_JUMP;
		distance = sign_extend(word & 0x3ffffff, 26);
	} else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		distance = sign_extend(word >> 5 & 0x7ffff, 19);
	} else if ((word & 0x7e000000) == 0x36000000) {
		distance = sign_extend(word >> 5 & 0x3fff, 14);
	} else {
		return (struct code_reference){ CODE_REFERENCE_NONE, 0 };
	}
	return (struct code_reference){ kind, address + (uint64_t)(distance * 4) };
}

struct code_reference machine_code_at(uint16_t machine, const uint8_t *code, size_t len,
				      size_t at, uint64_t start)
{
	if (machine == EM_X86_64)
		return x86_64_at(code + at, len - at, start + at);
	return aarch64_at(code + at, len - at, start + at);
}

/* A cheap pre-check, because all of a library's text is searched. */
static bool may_be_call(uint16_t machine, const uint8_t *code)
{
	return machine == EM_X86_64 ? code[0] == 0xe8 : (code[3] & 0xfc) == 0x94;
}

size_t machine_code_find_call(uint16_t machine, const uint8_t *code, size_t len, size_t from,
			      uint64_t start, uint64_t callee)
{
	const size_t step = machine == EM_X86_64 ? 1 : 4;

	for (size_t at = (from + step - 1) / step * step; at + 4 <= len; at += step) {
		if (!may_be_call(machine, code + at))
			continue;
		const struct code_reference reference =
			machine_code_at(machine, code, len, at, start);
		if (reference.kind == CODE_REFERENCE_CALL && reference.target == callee)
			return at;
	}
	return len;
}
