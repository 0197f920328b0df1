#include "target/elf_objects.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "target/elf_file.h"

struct elf_object {
	uint64_t address, size;
	uint32_t name;
};

/* State while a file is read. */
struct reading {
	const struct elf_file *elf;
	struct elf_objects *out;
	size_t capacity;
	const char *names; /* NUL-terminated */
	size_t names_size;
};

static int compare(const void *a, const void *b)
{
	const struct elf_object *first = a, *second = b;

	return first->address < second->address ? -1 : first->address > second->address;
}

static bool is_variable(const struct reading *reading, const Elf64_Sym *symbol)
{
	const struct elf_file_load *load = elf_file_load_at(reading->elf, symbol->st_value);

	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_size > 0 && symbol->st_name != 0 &&
	       symbol->st_name < reading->names_size && load && load->is_writable;
}

static void add(struct reading *reading, const Elf64_Sym *symbol)
{
	struct elf_objects *out = reading->out;

	if (!is_variable(reading, symbol))
		return;
	out->rows = array_grow(out->rows, out->count, &reading->capacity, sizeof *out->rows);
	out->rows[out->count++] =
		(struct elf_object){ symbol->st_value, symbol->st_size, symbol->st_name };
}

/* Reads the first section of that type. False: there is none, or it has no variables. */
static bool read_table(struct reading *reading, const Elf64_Shdr *headers, uint32_t type)
{
	const size_t count = reading->elf->section_count;
	const Elf64_Shdr *header = NULL;

	for (size_t i = 0; i < count && !header; i++) {
		if (headers[i].sh_type == type && headers[i].sh_link < count)
			header = &headers[i];
	}
	if (!header)
		return false;
	const Elf64_Shdr *strings = &headers[header->sh_link];
	CLEANUP(freep) Elf64_Sym *symbols = elf_file_read_section(reading->elf, header);
	CLEANUP(freep) char *names = elf_file_read_section(reading->elf, strings);

	if (!symbols || !names)
		return false;
	reading->names = names;
	reading->names_size = strings->sh_size;
	for (size_t i = 0; i < header->sh_size / sizeof *symbols; i++)
		add(reading, &symbols[i]);
	if (reading->out->count == 0)
		return false;
	reading->out->names = names;
	names = NULL;
	return true;
}

void elf_objects_read(const char *path, struct elf_objects *out_objects)
{
	struct elf_file elf;
	struct reading reading = { .elf = &elf, .out = out_objects };

	*out_objects = (struct elf_objects){ 0 };
	if (elf_file_open(path, &elf, NULL) < 0)
		return;
	const size_t size = elf.section_count * sizeof(Elf64_Shdr);
	CLEANUP(freep) Elf64_Shdr *headers = xzalloc(size + 1);

	if (elf.section_offset != 0 && size > 0 &&
	    elf_file_read_file(&elf, elf.section_offset, headers, size) &&
	    (read_table(&reading, headers, SHT_SYMTAB) ||
	     read_table(&reading, headers, SHT_DYNSYM)))
		qsort(out_objects->rows, out_objects->count, sizeof *out_objects->rows,
		      compare);
	elf_file_close(&elf);
}

void elf_objects_done(struct elf_objects *objects)
{
	free(objects->rows);
	free(objects->names);
	*objects = (struct elf_objects){ 0 };
}

const char *elf_objects_find(const struct elf_objects *objects, uint64_t address,
			     uint64_t *out_offset, uint64_t *out_size)
{
	size_t low = 0, high = objects->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (objects->rows[middle].address > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return NULL;
	const struct elf_object *object = &objects->rows[low - 1];

	*out_offset = address - object->address;
	*out_size = object->size;
	return *out_offset < object->size ? objects->names + object->name : NULL;
}
