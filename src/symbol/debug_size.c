#include "debug_size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elf_image.h"

/* So much is never too much. */
#define SMALL     (UINT64_C(1) << 30)
#define MOST_FOLD 16

/* Of a section of the older form, ".zdebug_…": "ZLIB", and the size with its highest byte first. */
static uint64_t size_of_older_form(Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
		return 0;
	for (int i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

static uint64_t size_of_section(const struct elf_image *image, Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	size_t names;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	if (header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	const char *name = elf_getshdrstrndx(image->elf, &names) == 0
				   ? elf_strptr(image->elf, names, header.sh_name)
				   : NULL;

	return name && strncmp(name, ".zdebug", 7) == 0 ? size_of_older_form(section) : 0;
}

uint64_t debug_size_unpacked(const struct elf_image *image)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;

	while ((section = elf_nextscn(image->elf, section)))
		if (__builtin_add_overflow(sum, size_of_section(image, section), &sum))
			return UINT64_MAX;
	return sum;
}

/* What this process may still map; UINT64_MAX: as much as it likes. */
static uint64_t address_space_left(void)
{
	struct rlimit limit;
	uint64_t pages = 0;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%" SCNu64, &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	const uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);

	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

bool debug_size_is_bearable(uint64_t unpacked, uint64_t file_len)
{
	return unpacked == 0 || ((unpacked <= SMALL || unpacked / MOST_FOLD <= file_len) &&
				 unpacked <= address_space_left() / 2);
}
