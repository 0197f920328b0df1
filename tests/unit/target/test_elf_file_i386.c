/* test_elf_file_i386 - the heads of 32-bit files, good and damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "target/elf_file.h"

struct head {
	Elf32_Ehdr header;
	Elf32_Phdr segments[3];
};

static struct head good_head(void)
{
	return (struct head){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
					 ELFDATA2LSB },
			    .e_machine = EM_386,
			    .e_phoff = sizeof(Elf32_Ehdr),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 3,
			    .e_shoff = 7000,
			    .e_shentsize = sizeof(Elf32_Shdr),
			    .e_shnum = 9,
			    .e_shstrndx = 8 },
		.segments = { { .p_type = PT_LOAD,
				.p_vaddr = 0x8048000,
				.p_filesz = 0x900,
				.p_memsz = 0x800,
				.p_flags = PF_R | PF_X },
			      { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x8048700 },
			      { .p_type = PT_LOAD,
				.p_vaddr = 0x8049000,
				.p_offset = 0x1000,
				.p_memsz = 0x100,
				.p_flags = PF_R | PF_W } },
	};
}

static void segments_and_sections_are_taken(void **state)
{
	const struct head head = good_head();
	struct elf_file elf = { .fd = -1 };

	(void)state;
	assert_true(elf_file_take_i386(&elf, &head, sizeof head));
	assert_int_equal(elf.machine, EM_386);
	assert_true(elf.is_32_bit);
	assert_int_equal(elf.frame_header, 0x8048700);
	assert_int_equal(elf.section_offset, 7000);
	assert_int_equal(elf.load_count, 2);
	assert_int_equal(elf.loads[0].file_size, 0x800);
	assert_true(elf.loads[0].is_executable);
	assert_true(elf.loads[1].is_writable);
}

static void what_is_cut_short_is_not_read_on(void **state)
{
	const struct head head = good_head();
	struct elf_file elf = { .fd = -1 };

	(void)state;
	assert_true(elf_file_take_i386(&elf, &head, sizeof head - 1));
	assert_int_equal(elf.load_count, 1);
	elf = (struct elf_file){ .fd = -1 };
	assert_false(elf_file_take_i386(&elf, &head, sizeof head.header));
	assert_false(elf_file_take_i386(&elf, &head, sizeof head.header - 1));
	assert_false(elf_file_take_i386(&elf, &head, 0));
}

static void other_files_are_refused(void **state)
{
	struct elf_file elf = { .fd = -1 };
	struct head head = good_head();

	(void)state;
	head.header.e_ident[EI_CLASS] = ELFCLASS64;
	assert_false(elf_file_take_i386(&elf, &head, sizeof head));
	head = good_head();
	head.header.e_machine = EM_ARM;
	assert_false(elf_file_take_i386(&elf, &head, sizeof head));
	head = good_head();
	head.header.e_phentsize = 1;
	assert_false(elf_file_take_i386(&elf, &head, sizeof head));
	head = good_head();
	head.header.e_phoff = UINT32_MAX;
	head.header.e_phnum = UINT16_MAX;
	assert_false(elf_file_take_i386(&elf, &head, sizeof head));
}

static void no_more_segments_are_kept_than_there_is_room_for(void **state)
{
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segments[4 * ELF_FILE_LOADS];
	} head = { .header = good_head().header };
	struct elf_file elf = { .fd = -1 };

	(void)state;
	head.header.e_phnum = 4 * ELF_FILE_LOADS;
	for (size_t i = 0; i < 4 * ELF_FILE_LOADS; i++)
		head.segments[i] = good_head().segments[0];
	assert_true(elf_file_take_i386(&elf, &head, sizeof head));
	assert_int_equal(elf.load_count, ELF_FILE_LOADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_and_sections_are_taken),
		cmocka_unit_test(what_is_cut_short_is_not_read_on),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(no_more_segments_are_kept_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
