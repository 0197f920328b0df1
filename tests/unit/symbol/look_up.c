/*
 * Prints what the symbolizer says of addresses of a file: for the tests that compare it
 * with other tools.
 *
 *   look_up [-d DEBUG_ROOT] [-b BUILD_ID] [-m] [-l] FILE < virtual addresses in hexadecimal
 *   look_up -o …  < file offsets instead
 *
 * -b: the build id that was recorded; -m: read the file into memory and give the image;
 * -l: lines of installed debug files are left.
 * One line for each location, innermost first, fields separated by tabs, then an empty line:
 *   name  line_file  line_number  file  line  inlined|outer  named|unnamed  address
 * Then "notes:" and the notes.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/notes.h"
#include "symbol/symbolizer.h"

struct options {
	const char *path;
	const char *debug_root;
	const char *build_id;
	bool is_image;
	bool are_offsets;
	bool leaves_lines;
};

struct printed {
	struct symbol_location locations[256];
	size_t count;
};

static void keep_location(void *context, const struct symbol_location *location)
{
	struct printed *printed = context;

	if (printed->count < 256)
		printed->locations[printed->count++] = *location;
}

static void print_location(const struct symbol_location *location, uint64_t address)
{
	printf("%s\t%s\t%u\t%s\t%u\t%s\t%s\t%#" PRIx64 "\n", location->name,
	       location->line_file ? location->line_file : "?", location->line_number,
	       location->file ? location->file : "?", location->line,
	       location->is_inlined ? "inlined" : "outer",
	       location->is_named ? "named" : "unnamed", address);
}

static uint64_t file_offset(Elf *elf, uint64_t address)
{
	GElf_Phdr header;

	for (int i = 0; elf && gelf_getphdr(elf, i, &header); i++)
		if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
		    address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	return UINT64_MAX;
}

static void *read_file(const char *path, size_t *out_len)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		exit(2);
	void *bytes = xmalloc((size_t)st.st_size + 1);
	ssize_t len = read(fd, bytes, (size_t)st.st_size);
	close(fd);
	*out_len = len < 0 ? 0 : (size_t)len;
	return bytes;
}

static struct symbol_module *open_module(struct symbolizer *symbolizer,
					 const struct options *options, void **out_bytes)
{
	uint8_t id[20];
	size_t len = 0;

	if (options->is_image) {
		*out_bytes = read_file(options->path, &len);
		return symbolizer_open_image(symbolizer, options->path, *out_bytes, len);
	}
	for (; options->build_id && len < sizeof id; len++)
		if (sscanf(options->build_id + 2 * len, "%2" SCNx8, &id[len]) != 1)
			break;
	return symbolizer_open_elf(symbolizer, options->path, id, len);
}

static void look_up_all(struct symbol_module *module, const struct options *options)
{
	uint64_t address;
	/* A FIFO must not make this program wait before the symbolizer can. */
	int fd = open(options->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	while (scanf("%" SCNx64, &address) == 1) {
		struct printed printed = { .count = 0 };
		uint64_t offset = options->are_offsets ? address : file_offset(elf, address);
		symbol_module_look_up(module, offset, keep_location, &printed, &address);
		for (size_t i = 0; i < printed.count; i++)
			print_location(&printed.locations[i], address);
		putchar('\n');
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	void *bytes = NULL;

	for (int option; (option = getopt(argc, argv, "d:b:mol")) != -1;) {
		if (option == 'd')
			options.debug_root = optarg;
		else if (option == 'b')
			options.build_id = optarg;
		else if (option == 'm')
			options.is_image = true;
		else if (option == 'o')
			options.are_offsets = true;
		else if (option == 'l')
			options.leaves_lines = true;
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	options.path = argv[optind];

	struct notes *notes = notes_new();
	struct symbolizer *symbolizer = symbolizer_new(notes);
	if (options.debug_root)
		symbolizer_set_debug_root(symbolizer, options.debug_root);
	if (options.leaves_lines)
		symbolizer_leave_installed_lines(symbolizer);
	elf_version(EV_CURRENT);
	look_up_all(open_module(symbolizer, &options, &bytes), &options);
	puts("notes:");
	for (size_t i = 0; i < notes_count(notes); i++)
		puts(notes_text(notes, i, NULL));
	symbolizer_free(symbolizer);
	notes_free(notes);
	free(bytes);
	return 0;
}
