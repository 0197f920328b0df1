/*
 * The input is an ELF image.  Its names are asked for over its whole length, and there are
 * always some: symbol tables, .eh_frame, DWARF, PLT stubs and .gnu_debugdata are all read.
 *
 * The seeds in corpus/elf_symbols are tiny programs (a loop, an inlined function, two
 * symbols for one address) built by gcc and clang with DWARF 3 to 5, stripped, with
 * .gnu_debugdata, and for 32 bits.
 */
#include <stdlib.h>

#include "base/notes.h"
#include "symbol/symbolizer.h"

#define LOOK_UPS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_location(void *context, const struct symbol_location *location)
{
	size_t *count = context;

	if (!location->name || !*location->name)
		abort();
	++*count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct notes *notes = notes_new();
	struct symbolizer *symbolizer = symbolizer_new(notes);

	/* What this machine has installed must not change what an input does. */
	symbolizer_set_debug_root(symbolizer, "/nonexistent");
	struct symbol_module *module = symbolizer_open_image(symbolizer, "image", data, size);
	for (size_t i = 0; i < LOOK_UPS; i++) {
		uint64_t address;
		size_t count = 0;
		symbol_module_look_up(module, i * (size / LOOK_UPS + 1), check_location, &count,
				      &address);
		if (count == 0)
			abort();
	}
	symbolizer_free(symbolizer);
	notes_free(notes);
	return 0;
}
