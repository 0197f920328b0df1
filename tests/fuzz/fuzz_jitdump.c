/*
 * The input is the bytes of a jitdump.
 */
#include <stdlib.h>

#include "base/notes.h"
#include "symbol/symbolizer.h"

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
	struct symbol_module *module = symbolizer_open_jitdump(symbolizer, "input", data, size);

	for (uint64_t address = 0; address < 0x4000; address += 64) {
		size_t count = 0;
		symbol_module_look_up(module, address, check_location, &count, NULL);
		if (count != 1)
			abort();
	}
	symbolizer_free(symbolizer);
	notes_free(notes);
	return 0;
}
