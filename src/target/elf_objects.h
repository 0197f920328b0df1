/*
 * elf_objects - finds the writable variables of an ELF file by address.
 *
 * From .symtab, or the exported symbols if that was stripped.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct elf_objects {
	struct elf_object *rows; /* sorted by address */
	size_t count;
	char *names; /* each NUL-terminated */
};

/* Empty if the file cannot be read. Release with elf_objects_done(). */
void elf_objects_read(const char *path, struct elf_objects *out_objects);
void elf_objects_done(struct elf_objects *objects);
/*
 * The name of the variable that contains the address, which is the file's own; stores the
 * offset within it and its size. NULL: none.
 */
const char *elf_objects_find(const struct elf_objects *objects, uint64_t address,
			     uint64_t *out_offset, uint64_t *out_size);
