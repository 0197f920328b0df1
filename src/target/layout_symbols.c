#include "layout_symbols.h"

#include <string.h>

#include "abi/types.h"
#include "base/memory.h"
#include "elf_file.h"

static void put(void *layout, size_t field, u64 address)
{
	memcpy((char *)layout + field, &address, sizeof address);
}

const char *layout_symbols_find(const struct layout_symbol *symbols, size_t count,
				const struct elf_file *elf, void *layout)
{
	for (size_t i = 0; i < count; i++) {
		struct elf_file_symbol symbol;

		if (elf_file_find_any(elf, symbols[i].name, &symbol))
			put(layout, symbols[i].field, symbol.address);
		else if (!symbols[i].may_be_absent)
			return symbols[i].name;
	}
	return NULL;
}

void layout_symbols_move(const struct layout_symbol *symbols, size_t count, uint64_t load_bias,
			 void *layout)
{
	for (size_t i = 0; i < count; i++) {
		u64 address;

		memcpy(&address, (const char *)layout + symbols[i].field, sizeof address);
		if (address != 0)
			put(layout, symbols[i].field, address + load_bias);
	}
}

void layout_ranges_move(struct code_range ranges[CODE_RANGES], uint64_t load_bias)
{
	for (size_t i = 0; i < CODE_RANGES; i++) {
		if (ranges[i].end == 0)
			continue;
		ranges[i].start += load_bias;
		ranges[i].end += load_bias;
	}
}

void layout_variable_move(struct tls_variable *variable, uint64_t load_bias)
{
	if (variable->means == TLS_BY_MODULE)
		variable->module += load_bias;
}

void layout_symbols_use_copies(const struct layout_symbol *symbols, size_t count,
			       const char *path, uint64_t load_bias, void *layout)
{
	CLEANUP(elf_file_close) struct elf_file elf;

	if (elf_file_open(path, &elf, NULL) < 0)
		return;
	/* Functions are never copied: a program that defines one is the interpreter itself. */
	for (size_t i = 0; i < count; i++) {
		struct elf_file_symbol symbol;

		if (elf_file_find(&elf, symbols[i].name, &symbol) && symbol.address != 0)
			put(layout, symbols[i].field, symbol.address + load_bias);
	}
}
