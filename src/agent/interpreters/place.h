/*
 * place - whether an interpreter's image is still where its layout says.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;

/* Whether an interpreter's image was where its layout says; zero: not seen yet. */
struct interpreter_place {
	u32 found_in; /* one more than the flushes there were; 0: it was not found */
	u64 loop;
};

/*
 * Whether the interpreter is still where its layout says.  Its functions are called; a program
 * that embeds it may unload it, and run other code in its place.
 */
bool interpreter_is_loaded(struct interpreter_place *place, struct mem *mem, u64 loop,
			   u64 load_bias);
/* Images may have gone. */
void interpreter_places_flush(void);
