/*
 * Prints what the symbolizer says of virtual addresses of a file: for the tests that compare
 * it with other tools.
 *
 *   look_up FILE [DEBUG_ROOT] < addresses in hexadecimal, one a line
 *
 * One line for each location, innermost first, fields separated by tabs, then an empty line:
 *   name  line_file  line_number  file  line  inlined|outer  named|unnamed
 * Then "notes:" and the notes.
 */
#include <gelf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/notes.h"
#include "symbol/symbolizer.h"

static void print_location(void *context, const struct symbol_location *location)
{
	(void)context;
	printf("%s\t%s\t%u\t%s\t%u\t%s\t%s\n", location->name,
	       location->line_file ? location->line_file : "?", location->line_number,
	       location->file ? location->file : "?", location->line,
	       location->is_inlined ? "inlined" : "outer",
	       location->is_named ? "named" : "unnamed");
}

static uint64_t file_offset(Elf *elf, uint64_t address)
{
	GElf_Phdr header;

	for (int i = 0; gelf_getphdr(elf, i, &header); i++)
		if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
		    address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	return UINT64_MAX;
}

int main(int argc, char **argv)
{
	uint64_t address;
	struct notes *notes = notes_new();
	struct symbolizer *symbolizer = symbolizer_new(notes);

	if (argc < 2)
		return 2;
	if (argc > 2)
		symbolizer_set_debug_root(symbolizer, argv[2]);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(open(argv[1], O_RDONLY | O_CLOEXEC), ELF_C_READ, NULL);
	struct symbol_module *module = symbolizer_open_elf(symbolizer, argv[1], NULL, 0);
	while (scanf("%" SCNx64, &address) == 1) {
		symbol_module_look_up(module, file_offset(elf, address), print_location, NULL,
				      NULL);
		putchar('\n');
	}
	puts("notes:");
	for (size_t i = 0; i < notes_count(notes); i++)
		puts(notes_text(notes, i, NULL));
	elf_end(elf);
	symbolizer_free(symbolizer);
	notes_free(notes);
	return 0;
}
