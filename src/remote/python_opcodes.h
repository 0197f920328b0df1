/*
 * python_opcodes - the instructions of each CPython version that load a variable or an attribute.
 *
 * With each opcode those that the interpreter puts in its place once it is specialised.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { PYTHON_OPCODE_RANGES = 4 };

/* Opcodes, from and to, with those that an interpreter puts in the place of one that it specialises. */
struct python_opcode_ranges {
	uint8_t from[PYTHON_OPCODE_RANGES], to[PYTHON_OPCODE_RANGES];
};

/* What loads a variable or an attribute; caches: units that follow. */
struct python_opcodes {
	uint32_t first_version;
	uint8_t extended_arg, pop_top, name, deref;
	struct python_opcode_ranges fast;  /* a local variable */
	struct python_opcode_ranges pairs; /* two, by four bits each: the second is on top */
	struct python_opcode_ranges global, attribute, method;
	uint8_t global_caches, attribute_caches, method_caches;
	uint8_t global_shift, attribute_shift; /* of the argument */
	uint8_t call;                          /* units of a call without arguments */
};

/* NULL: the version is not known. */
const struct python_opcodes *python_opcodes_of(uint32_t version);
bool python_opcode_is(const struct python_opcode_ranges *ranges, uint8_t opcode);
