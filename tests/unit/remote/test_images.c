/* Which mappings are of one ELF file. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pages.h"
#include "remote/images.h"
#include "target/maps.h"

/* 0x100000: two segments, .bss, and what BOLT adds behind; 0x10c000: a heap, and another file. */
static const char text[] = "100000-102000 r--p 00000000 fe:00 7 /lib/libx.so\n"
			   "102000-104000 r-xp 00002000 fe:00 7 /lib/libx.so\n"
			   "104000-105000 rw-p 00004000 fe:00 7 /lib/libx.so\n"
			   "105000-106000 rw-p 00000000 00:00 0\n"
			   "106000-107000 ---p 00005000 fe:00 7 /lib/libx.so\n"
			   "107000-109000 r-xp 00006000 fe:00 7 /lib/libx.so\n"
			   "109000-10a000 rw-p 00000000 00:00 0\n"
			   "10c000-10d000 rw-p 00000000 00:00 0\n"
			   "10d000-10e000 r-xp 00001000 fe:00 7 /lib/libx.so\n";

static void a_file_goes_on_behind_its_variables(void **state)
{
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				  .e_phoff = sizeof head,
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1 };
	const Elf64_Phdr load = { .p_type = PT_LOAD };
	struct maps *maps = maps_parse(text, strlen(text));
	struct remote_images images;
	struct mem mem;
	struct pages *pages = pages_new(&mem);

	(void)state;
	pages_put(pages, PAGES_BEGIN, &head, sizeof head);
	pages_put(pages, PAGES_BEGIN + sizeof head, &load, sizeof load);
	remote_images_read(&images, maps, &mem);
	assert_int_equal(images.count, 1);
	assert_int_equal(images.images[0].native.end, 0x109000);
	assert_non_null(remote_images_find(&images, 0x108000));
	assert_null(remote_images_find(&images, 0x109000));
	assert_null(remote_images_find(&images, 0x10d000));
	remote_images_done(&images);
	memory_done(&mem);
	free(pages);
	maps_free(maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_goes_on_behind_its_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
