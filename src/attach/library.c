#include "attach/library.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attach/peek.h"
#include "base/error.h"
#include "base/memory.h"
#include "target/load_bias.h"
#include "target/maps.h"

#define CODE_COMPARED 64

static bool is_wanted(const char *path, const char *const *prefixes)
{
	const char *name = strrchr(path, '/');

	for (; name != NULL && *prefixes != NULL; prefixes++)
		if (strncmp(name + 1, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

static void find_mapping(const struct maps *maps, const char *const *prefixes,
			 struct library *library)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct mapping *code = library->code;

		if (!is_wanted(mapping->path, prefixes) ||
		    (code != NULL && code->inode != mapping->inode))
			continue;
		if (library->start == 0)
			library->start = mapping->start;
		library->end = mapping->end;
		if (mapping->is_executable && code == NULL)
			library->code = mapping;
	}
}

int library_open(pid_t pid, const struct maps *maps, const char *const *prefixes,
		 struct library *out_library, struct error *err)
{
	struct load_bias bias;

	*out_library = (struct library){ .pid = pid };
	find_mapping(maps, prefixes, out_library);
	const struct mapping *code = out_library->code;

	if (code == NULL)
		return -ENOENT;
	CLEANUP(freep) char *inside = xasprintf("/proc/%d/root%s", (int)pid, code->path);
	/* After chroot(2), the kernel lists paths as seen from our root. */
	const char *path = access(inside, R_OK) == 0 ? inside : code->path;

	load_bias_read(path, &bias);
	if (!load_bias_of(&bias, code->start, code->file_offset, &out_library->bias) ||
	    elf_file_open(path, &out_library->elf, NULL) < 0)
		return error_set(err, -ENOTSUP, "its C library cannot be read (%s)", path);
	return 0;
}

void library_close(struct library *library)
{
	elf_file_close(&library->elf);
}

uint64_t library_symbol(const struct library *library, const char *name)
{
	struct elf_file_symbol symbol;

	return elf_file_find(&library->elf, name, &symbol) ? symbol.address + library->bias : 0;
}

bool library_is_what_is_mapped(const struct library *library, uint64_t function)
{
	uint8_t there[CODE_COMPARED], file[CODE_COMPARED];

	return peek(library->pid, function, there, sizeof there) == 0 &&
	       elf_file_read(&library->elf, function - library->bias, file, sizeof file) &&
	       memcmp(there, file, sizeof file) == 0;
}
