/* A file that has any bytes for Go's table of frames, in a program that is otherwise whole. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "remote/go_table.h"
#include "target/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x400000ULL
static const char names[] = "\0.gopclntab\0.names\0.text";

/* One segment with the file; sections: none, the table, the names, the code. */
static int make(const uint8_t *data, size_t size)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr load;
		Elf64_Shdr sections[4];
		char names[sizeof names];
	} file = { 0 };
	const size_t table = sizeof file;
	int fd = memfd_create("go", MFD_CLOEXEC);

	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_machine = EM_X86_64;
	file.head.e_phoff = sizeof file.head;
	file.head.e_phnum = 1;
	file.head.e_phentsize = sizeof file.load;
	file.head.e_shoff = sizeof file.head + sizeof file.load;
	file.head.e_shnum = 4;
	file.head.e_shentsize = sizeof *file.sections;
	file.head.e_shstrndx = 2;
	file.load = (Elf64_Phdr){ .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = BASE,
				  .p_filesz = table + size,
				  .p_memsz = table + size };
	file.sections[1] = (Elf64_Shdr){ .sh_name = 1,
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC,
					 .sh_addr = BASE + table,
					 .sh_offset = table,
					 .sh_size = size };
	file.sections[2] = (Elf64_Shdr){ .sh_name = 12,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = sizeof file - sizeof file.names,
					 .sh_size = sizeof names };
	file.sections[3] = (Elf64_Shdr){ .sh_name = 19,
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC,
					 .sh_addr = BASE,
					 .sh_size = table };
	memcpy(file.names, names, sizeof names);
	if (fd < 0 || write(fd, &file, sizeof file) != (ssize_t)sizeof file ||
	    (size > 0 && write(fd, data, size) != (ssize_t)size))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = make(data, size);
	struct elf_file elf;
	struct go_table table;
	struct go_frame frame;
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (elf_file_open(path, &elf, NULL) == 0) {
		if (go_table_read(&elf, &table))
			for (uint64_t address = BASE; address < BASE + 4096; address += 61)
				if (go_table_find(&elf, &table, address, &frame) &&
				    frame.depth > 1U << 28)
					abort();
		elf_file_close(&elf);
	}
	close(fd);
	return 0;
}
