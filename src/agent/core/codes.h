/*
 * codes - sends the recorder the names, file and lines of Python and Ruby functions, once an epoch.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"

struct mem;
struct name_text;

/* What a key stands for.  Texts may be empty; the line table is read from the target's memory. */
struct code {
	u64 key;
	u64 table_at;
	u64 table_length;
	u32 first_line;
	u8 kind;  /* enum ring_code_kind */
	u8 table; /* enum python_table */
	const struct name_text *name, *qualified, *file;
};

bool codes_has_sent(u64 key, u64 epoch);
/* False if it was not sent, since the ring has no room. */
bool codes_send(struct ring_header *ring, u64 epoch, struct mem *mem, const struct code *code);
