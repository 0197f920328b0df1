#include "elf_symbols.h"

#include <string.h>

#include "elf_image.h"
#include "symbol_table.h"

/* State while the tables of one file are read. */
struct reader {
	const struct elf_image *image;
	Elf_Data *data;
	Elf_Data *extended; /* section numbers above 0xff00, or NULL */
	size_t names;       /* the string section */
	size_t last_section;
	GElf_Shdr last_header;
};

static Elf_Data *extended_numbers(const struct elf_image *image, size_t symbols_section)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == symbols_section)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* Neighbouring symbols mostly share their section. */
static const GElf_Shdr *section_header(struct reader *reader, size_t index)
{
	if (index != reader->last_section) {
		Elf_Scn *section = elf_getscn(reader->image->elf, index);
		reader->last_section = 0;
		if (!section || !gelf_getshdr(section, &reader->last_header))
			return NULL;
		reader->last_section = index;
	}
	return &reader->last_header;
}

static bool is_function_type(unsigned type)
{
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static enum symbol_rank rank_of(unsigned binding)
{
	if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE)
		return SYMBOL_RANK_GLOBAL;
	return binding == STB_WEAK ? SYMBOL_RANK_WEAK : SYMBOL_RANK_LOCAL;
}

/* ARM's $x and $d mark the kind of the bytes that follow; they are not names. */
static bool is_mapping_symbol(const struct elf_image *image, const char *name)
{
	bool has_them =
		image->header.e_machine == EM_AARCH64 || image->header.e_machine == EM_ARM;

	return has_them && name[0] == '$';
}

static void add_symbol(struct symbol_table *table, struct reader *reader, int i)
{
	GElf_Sym sym;
	Elf32_Word extended = 0;

	if (!gelf_getsymshndx(reader->data, reader->extended, i, &sym, &extended))
		return;
	unsigned type = GELF_ST_TYPE(sym.st_info);
	if (!is_function_type(type) && type != STT_NOTYPE)
		return;
	size_t index = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
	if (index == SHN_UNDEF || (index >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX))
		return;
	const GElf_Shdr *section = section_header(reader, index);
	if (!section || !(section->sh_flags & SHF_EXECINSTR) ||
	    sym.st_value < section->sh_addr ||
	    sym.st_value - section->sh_addr >= section->sh_size)
		return;
	const char *name = elf_strptr(reader->image->elf, reader->names, sym.st_name);
	if (!name || !*name || is_mapping_symbol(reader->image, name))
		return;

	uint64_t left = section->sh_size - (sym.st_value - section->sh_addr);
	if (sym.st_value > UINT64_MAX - left)
		return;
	symbol_table_add(
		table, &(struct symbol){
			       .start = sym.st_value,
			       .end = sym.st_value + (sym.st_size < left ? sym.st_size : left),
			       .limit = sym.st_value + left,
			       .name = name,
			       .rank = rank_of(GELF_ST_BIND(sym.st_info)),
			       .is_function = is_function_type(type),
		       });
}

bool elf_symbols_add(struct symbol_table *table, const struct elf_image *image,
		     unsigned section_type)
{
	struct reader reader = { .image = image };
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section_of_type(image, section_type, &header);

	if (!section || header.sh_entsize == 0)
		return false;
	reader.data = elf_getdata(section, NULL);
	reader.extended = extended_numbers(image, elf_ndxscn(section));
	reader.names = header.sh_link;
	if (!reader.data || !reader.data->d_buf)
		return false;
	size_t count = reader.data->d_size / header.sh_entsize;
	if (count > INT32_MAX)
		return false;
	/* Entry 0 is always empty. */
	for (size_t i = 1; i < count; i++)
		add_symbol(table, &reader, (int)i);
	return true;
}
