/*
 * machine_code - what machine code refers to: the addresses it takes and reads, and the places
 * it jumps to and calls.
 *
 * No disassembler.  x86-64 has no instruction boundaries that can be seen from outside, so each
 * byte is taken for one: whatever is found has to be confirmed by what stands there, and chance
 * does not make up addresses that hold a version's text or lie in another part of a function.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum code_reference_kind {
	CODE_REFERENCE_NONE,
	CODE_REFERENCE_ADDRESS, /* taken: lea, mov, adrp and add */
	CODE_REFERENCE_JUMP,    /* jumped to, not called */
	CODE_REFERENCE_CALL,    /* called */
	CODE_REFERENCE_OPERAND, /* read, written or compared: mov, cmp, adrp and ldr */
};

struct code_reference {
	enum code_reference_kind kind;
	uint64_t target;
};

/* What the instruction at code[at] refers to, if it is one; the code begins at `start`. */
struct code_reference machine_code_at(uint16_t machine, const uint8_t *code, size_t len,
				      size_t at, uint64_t start);
/* The first call of `callee` at code[from] or behind it; len: there is none. */
size_t machine_code_find_call(uint16_t machine, const uint8_t *code, size_t len, size_t from,
			      uint64_t start, uint64_t callee);
