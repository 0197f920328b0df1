/*
 * codes - what interpreters' frames are, reported to the recorder once in each epoch.
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"

struct mem;
struct name_text;

/* What a key stands for.  Texts may be empty; the table of lines is in the target's memory. */
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
/* False when there is no room: it was not sent. */
bool codes_send(struct ring_header *ring, u64 epoch, struct mem *mem, const struct code *code);
