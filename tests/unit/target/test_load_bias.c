#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/load_bias.h"

/* An ELF file with these segments; its path is the caller's to unlink() and free(). */
static char *make_file(const Elf64_Phdr *headers, uint16_t count)
{
	char *path = strdup("/tmp/test-load-bias-XXXXXX");
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB },
			    .e_phoff = sizeof head,
			    .e_phentsize = sizeof *headers,
			    .e_phnum = count };
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &head, sizeof head), sizeof head);
	assert_int_equal(write(fd, headers, count * sizeof *headers), count * sizeof *headers);
	close(fd);
	return path;
}

static struct load_bias read_file(const Elf64_Phdr *headers, uint16_t count)
{
	struct load_bias bias;
	char *path = make_file(headers, count);

	load_bias_read(path, &bias);
	unlink(path);
	free(path);
	return bias;
}

#define SEGMENT(flags, address, offset, size)                                                \
	{                                                                                    \
		.p_type = PT_LOAD, .p_flags = flags, .p_vaddr = address, .p_offset = offset, \
		.p_filesz = size                                                             \
	}

static const Elf64_Phdr usual[] = {
	SEGMENT(PF_R, 0, 0, 0x800),
	SEGMENT(PF_R | PF_X, 0x1000, 0x1000, 0x5000),
	SEGMENT(PF_R | PF_W, 0x7d00, 0x6d00, 0x100),
};
/* At a fixed address, and as lld puts segments: offsets and addresses grow apart. */
static const Elf64_Phdr fixed[] = {
	SEGMENT(PF_R, 0x400000, 0, 0x1234),
	SEGMENT(PF_R | PF_X, 0x402240, 0x1240, 0x3000),
	SEGMENT(PF_R | PF_X, 0x407500, 0x5500, 0x10),
};

static const struct {
	const char *name;
	const Elf64_Phdr *headers;
	uint64_t start, file_offset, due;
	bool is_known;
} cases[] = {
	{ "a library where it was put", usual, 0x7f0000001000, 0x1000, 0x7f0000000000, true },
	{ "the rest of a mapping", usual, 0x7f0000003000, 0x3000, 0x7f0000000000, true },
	{ "its last page", usual, 0x7f0000005000, 0x5000, 0x7f0000000000, true },
	{ "behind its end", usual, 0x7f0000006000, 0x6000, 0, false },
	{ "what is not executable", usual, 0x7f0000000000, 0, 0, false },
	{ "a program at its own address", fixed, 0x402000, 0x1000, 0, true },
	{ "its second segment", fixed, 0x407000, 0x5000, 0, true },
	{ "the same, moved", fixed, 0x507000, 0x5000, 0x100000, true },
};

static void a_mapping_has_the_bias(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct load_bias bias = read_file(cases[i].headers, 3);
		uint64_t is = 0;

		if (load_bias_of(&bias, cases[i].start, cases[i].file_offset, &is) !=
			    cases[i].is_known ||
		    is != cases[i].due)
			fail_msg("%s: 0x%" PRIx64, cases[i].name, is);
	}
}

static void what_is_no_elf_file_has_no_segments(void **state)
{
	struct load_bias bias = { .count = 1 };

	(void)state;
	load_bias_read("/nowhere", &bias);
	assert_int_equal(bias.count, 0);
	bias.count = 1;
	load_bias_read("/proc/self/maps", &bias);
	assert_int_equal(bias.count, 0);
	bias.count = 1;
	load_bias_read("/", &bias);
	assert_int_equal(bias.count, 0);
}

static void more_segments_than_files_have_are_not_kept(void **state)
{
	Elf64_Phdr many[64];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		many[i] = (Elf64_Phdr)SEGMENT(PF_X, i << 12, i << 12, 0x1000);
	assert_int_equal(read_file(many, 64).count, LOAD_BIAS_SEGMENTS);
}

static int compare(struct dl_phdr_info *info, size_t size, void *context)
{
	struct load_bias bias;
	uint64_t is = 0;

	(void)size;
	if (strstr(info->dlpi_name, ".so") == NULL || info->dlpi_name[0] != '/')
		return 0;
	load_bias_read(info->dlpi_name, &bias);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *header = &info->dlpi_phdr[i];
		const uint64_t page = ~(uint64_t)0xfff;

		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		assert_true(load_bias_of(&bias, (info->dlpi_addr + header->p_vaddr) & page,
					 header->p_offset & page, &is));
		assert_int_equal(is, info->dlpi_addr);
		++*(int *)context;
	}
	return 0;
}

static void it_is_what_the_dynamic_linker_says(void **state)
{
	int compared = 0;

	(void)state;
	dl_iterate_phdr(compare, &compared);
	assert_in_range(compared, 1, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_has_the_bias),
		cmocka_unit_test(what_is_no_elf_file_has_no_segments),
		cmocka_unit_test(more_segments_than_files_have_are_not_kept),
		cmocka_unit_test(it_is_what_the_dynamic_linker_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
