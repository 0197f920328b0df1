/*
 * python_load - the bytecode of a CPython function, and the objects that its instructions load.
 *
 * Only instructions that load a variable or an attribute are known. Where instructions begin is
 * not: from 3.11 on inline caches lie between them, and what is in a cache may look like one. So
 * there may be several objects that an instruction seems to use; the caller knows which kind it
 * looks for.
 *
 * CPython 3.6 to 3.15.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_frame;
struct python_opcodes;
struct remote;

struct python_bytecode {
	struct remote *remote;
	const struct python_frame *frame;
	const struct python_opcodes *opcodes;
	uint8_t *bytes; /* opcode and argument, alternating: units of two bytes */
	uint32_t count; /* of units */
	uint32_t name_count;
	uint64_t names;       /* the items of co_names */
	uint32_t *steps_left; /* of the search for held locks, in all frames of a stack */
};

#define PYTHON_OBJECTS_MAX 4

struct python_loaded {
	uint64_t object;
	uint32_t begin; /* the unit that begins to load it */
};

/* A call of a method, as the code has it. */
struct python_method {
	uint32_t unit; /* that loads it */
	/* Behind the call, if it has no argument and its result is dropped; else 0. */
	uint32_t after;
	size_t count;
	struct python_loaded objects[PYTHON_OBJECTS_MAX]; /* one of them has the method now */
};

/*
 * The frame's function, without its code; false: of an unknown version, or unreadable. Each entry
 * of a dictionary, name and unit of code is a step, and what reads other objects many; once none
 * are left, nothing more is found.
 */
bool python_bytecode_open(struct remote *remote, const struct python_frame *frame,
			  uint32_t *steps_left, struct python_bytecode *out_bytecode);
/* Reads the code; the caller calls python_bytecode_close(). */
bool python_bytecode_read(struct python_bytecode *bytecode);
void python_bytecode_close(struct python_bytecode *bytecode);
/* A name's number in co_names; false: the function does not use it. */
bool python_bytecode_name(struct python_bytecode *bytecode, const char *name,
			  uint32_t *out_number);
/* Whether the unit loads the method of that name. */
bool python_bytecode_method(struct python_bytecode *bytecode, uint32_t unit,
			    uint32_t name_number, struct python_method *out_method);
/* The unit that the frame executes, and a unit's number as the line table and blocks have it. */
uint32_t python_bytecode_position(struct python_bytecode *bytecode);
uint32_t python_bytecode_instruction(struct python_bytecode *bytecode, uint32_t unit);
