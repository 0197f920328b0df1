#include "plt.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "elf_image.h"
#include "plt_machine.h"
#include "symbol_table.h"

static const struct plt_machine plt_machines[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE,
	  plt_decode_x86_64 },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE,
	  plt_decode_aarch64 },
};

/* A GOT slot: its relocation has the name of the function. */
struct slot {
	uint64_t address;
	const char *name; /* NULL: IRELATIVE, see resolver */
	uint64_t resolver;
};

struct slots {
	const struct plt_machine *machine;
	struct slot *slots;
	size_t count;
	size_t capacity;
	struct table by_address; /* address of the slot to its number + 1 */
	size_t jump_first;       /* .rela.plt's slots, in the order of its entries */
	size_t jump_count;
};

static void slots_done(struct slots *slots)
{
	table_done(&slots->by_address);
	free(slots->slots);
}

static const char *symbol_name(const struct elf_image *image, size_t symbols_section, size_t i)
{
	GElf_Shdr header;
	GElf_Sym sym;
	Elf_Scn *section = elf_getscn(image->elf, symbols_section);

	if (!section || i > INT32_MAX || !gelf_getshdr(section, &header) ||
	    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
		return NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !gelf_getsym(data, (int)i, &sym))
		return NULL;
	const char *name = elf_strptr(image->elf, header.sh_link, sym.st_name);
	return name && *name ? name : NULL;
}

static void add_slot(struct slots *slots, const struct elf_image *image,
		     const GElf_Shdr *section, const GElf_Rela *rela)
{
	struct slot slot = { .address = rela->r_offset };
	uint64_t type = GELF_R_TYPE(rela->r_info);
	const struct plt_machine *machine = slots->machine;

	if (type == machine->jump_slot || type == machine->glob_dat)
		slot.name = symbol_name(image, section->sh_link, GELF_R_SYM(rela->r_info));
	else if (type == machine->irelative)
		slot.resolver = (uint64_t)rela->r_addend;
	else if (section->sh_flags & SHF_INFO_LINK) /* keeps .rela.plt's numbering */
		slot.address = 0;
	else
		return;
	slots->slots = array_grow(slots->slots, slots->count, &slots->capacity, sizeof slot);
	slots->slots[slots->count++] = slot;
	if (slot.address)
		*table_at(&slots->by_address, 0, slot.address, NULL) = slots->count;
}

static void read_relocations(struct slots *slots, const struct elf_image *image)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		GElf_Rela rela;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC) || header.sh_entsize == 0)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (!data)
			continue;
		/*
		 * Only .rela.plt has SHF_INFO_LINK, naming the section it applies to; .rela.dyn
		 * does not.
		 */
		bool is_jumps = (header.sh_flags & SHF_INFO_LINK) != 0;
		size_t first = slots->count;
		for (int i = 0; gelf_getrela(data, i, &rela); i++)
			add_slot(slots, image, &header, &rela);
		if (is_jumps) {
			slots->jump_first = first;
			slots->jump_count = slots->count - first;
		}
	}
}

static const struct slot *slot_of_stub(const struct slots *slots, const struct plt_stub *stub)
{
	uint64_t number;

	if (stub->has_number)
		return stub->number < slots->jump_count
			       ? &slots->slots[slots->jump_first + stub->number]
			       : NULL;
	return table_get(&slots->by_address, 0, stub->slot, &number) ? &slots->slots[number - 1]
								     : NULL;
}

static const char *name_of_slot(const struct symbol_table *symbols, const struct slot *slot)
{
	if (slot->name || !slot->resolver)
		return slot->name;
	const struct symbol *resolver = symbol_table_find(symbols, slot->resolver);
	return resolver ? resolver->name : NULL;
}

static void add_section(struct symbol_table *stubs, const struct symbol_table *symbols,
			const struct slots *slots, const struct elf_image *image,
			const char *section_name)
{
	GElf_Shdr header;
	size_t len;

	if (!elf_image_section(image, section_name, &header))
		return;
	const uint8_t *code = elf_image_section_bytes(image, section_name, &len);
	if (!code || header.sh_addr > UINT64_MAX - len)
		return;
	struct plt_stub stub;
	for (size_t at = 0; at < len; at += stub.len) {
		uint64_t address = header.sh_addr + at;
		if (!slots->machine->decode(code + at, len - at, address, header.sh_entsize,
					    &stub))
			continue;
		const struct slot *slot = slot_of_stub(slots, &stub);
		const char *name = slot ? name_of_slot(symbols, slot) : NULL;
		if (name)
			symbol_table_add(stubs, &(struct symbol){
							.start = address,
							.end = address + stub.len,
							.limit = header.sh_addr + len,
							.name = name,
							.rank = SYMBOL_RANK_LOCAL,
							.is_function = true,
							.is_plt = true,
						});
	}
}

void plt_symbols_add(struct symbol_table *stubs, const struct symbol_table *symbols,
		     const struct elf_image *image)
{
	CLEANUP(slots_done) struct slots slots = { 0 };

	for (size_t i = 0; i < sizeof plt_machines / sizeof plt_machines[0]; i++)
		if (plt_machines[i].machine == image->header.e_machine)
			slots.machine = &plt_machines[i];
	if (!slots.machine || image->header.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	read_relocations(&slots, image);
	add_section(stubs, symbols, &slots, image, ".plt");
	add_section(stubs, symbols, &slots, image, ".plt.sec");
	add_section(stubs, symbols, &slots, image, ".plt.got");
}
