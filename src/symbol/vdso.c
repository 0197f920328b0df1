/*
 * Finds the vDSO of this process, which all 64-bit programs of this machine share as an ELF
 * image.
 */
#include "module.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "target/maps.h"

const void *vdso_image(size_t *out_len)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct maps *maps;

	if (start == 0 || maps_read(getpid(), &maps, NULL) < 0)
		return NULL;
	const struct mapping *mapping = maps_find(maps, start);
	size_t len = mapping && mapping->start == start ? mapping->end - mapping->start : 0;
	maps_free(maps);
	if (len == 0)
		return NULL;
	*out_len = len;
	/* It stays mapped as long as this process lives. */
	return (const void *)(uintptr_t)start;
}
