/*
 * crowded - opens a library where next to no page is free.
 *
 * usage: crowded LIBRARY DISTANCE: it gets a hole of its size in a reservation, of which nothing
 * within two gibibytes is free but pages at that distance (in MiB; negative: below; 0: none).
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE        4096UL
#define MIB         (1UL << 20)
#define RESERVED    (5120 * MIB)
#define HOLE        (2560 * MIB)
#define FREE_PAGES  2
#define FILLERS_MAX 100000

static void *reserve(size_t bytes)
{
	void *place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);

	if (place == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return place;
}

/* How much the dynamic linker maps for it. */
static size_t span_of(const char *path)
{
	FILE *file = fopen(path, "rb");
	Elf64_Ehdr header;
	size_t end = 0;

	if (file == NULL || fread(&header, sizeof header, 1, file) != 1 ||
	    fseek(file, (long)header.e_phoff, SEEK_SET) != 0)
		exit(2);
	for (int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (fread(&segment, sizeof segment, 1, file) != 1)
			exit(2);
		if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > end)
			end = segment.p_vaddr + segment.p_memsz;
	}
	fclose(file);
	return (end + PAGE - 1) & ~(PAGE - 1);
}

int main(int argc, char **argv)
{
	const long distance = argc > 2 ? atol(argv[2]) : 0;
	const size_t span = span_of(argv[1]);
	char *reserved = reserve(RESERVED), *hole = reserved + HOLE;
	int sum = 0;

	/* What is above it, and would be taken first. */
	for (int i = 0; i < FILLERS_MAX && (char *)reserve(span) > reserved; i++)
		;
	munmap(hole, span);
	if (distance != 0)
		munmap(hole + distance * (long)MIB, FREE_PAGES * PAGE);
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*const function)(int) = (int (*)(int))dlsym(library, "library_entry");

	for (int i = 0; i < 1000; i++)
		sum += function(i);
	printf("%s, %d\n",
	       (char *)function - hole < (long)span && (char *)function > hole ? "in the hole"
									       : "elsewhere",
	       sum);
	return 0;
}
