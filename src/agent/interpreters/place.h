/*
 * place - checks that an interpreter's image is still loaded where its layout has it.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;

/* When an interpreter's image was last found at its layout's addresses; all zero: never. */
struct interpreter_place {
	u32 found_in; /* the number of flushes before, plus one; 0: it was not found */
	u64 loop;
};

/*
 * Whether the interpreter is still at its layout's addresses.  The agent calls functions there,
 * and a program that embeds the interpreter may unload it and load other code there.
 */
bool interpreter_is_loaded(struct interpreter_place *place, struct mem *mem, u64 loop,
			   u64 load_bias);
/* Images may have been unloaded: places are checked again. */
void interpreter_places_flush(void);
