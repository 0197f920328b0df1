/*
 * elf_objects - the variables of an ELF file that are written to, by their addresses.
 *
 * By .symtab, or what is exported where that has been stripped.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct elf_objects {
	struct elf_object *rows; /* in the order of addresses */
	size_t count;
	char *names; /* with a NUL behind each */
};

/* None where the file cannot be read.  Release with elf_objects_done(). */
void elf_objects_read(const char *path, struct elf_objects *out_objects);
void elf_objects_done(struct elf_objects *objects);
/*
 * The name of the variable that has the address, which is the file's own, how far in it is, and of how
 * many bytes it is; NULL: none has.
 */
const char *elf_objects_find(const struct elf_objects *objects, uint64_t address,
			     uint64_t *out_offset, uint64_t *out_size);
