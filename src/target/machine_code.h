/*
 * machine_code - finds the addresses that machine code refers to: those it takes, reads, jumps
 * to and calls.
 *
 * Not a disassembler. Instruction boundaries of x86-64 cannot be seen from outside, so every
 * byte is tried as the beginning of one: a result has to be confirmed by what is at the
 * address, and chance does not produce addresses that hold a version's text or lie in another
 * part of a function.
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

/*
 * The reference made by the instruction at code[at], if it is one; the code begins at address
 * `start`.
 */
struct code_reference machine_code_at(uint16_t machine, const uint8_t *code, size_t len,
				      size_t at, uint64_t start);
/* The offset of the first call of `callee` from code[from] on; len: there is none. */
size_t machine_code_find_call(uint16_t machine, const uint8_t *code, size_t len, size_t from,
			      uint64_t start, uint64_t callee);
