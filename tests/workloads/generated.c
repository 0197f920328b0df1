/*
 * generated - executes code that it makes, and names it in a perf map (/tmp/perf-PID.map): as it
 * is ("own"), as another user's ("foreign"), as one of long ago ("stale"), or not at all ("none").
 */
#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE          4096
#define ORDINARY_USER 65534

#ifdef __aarch64__
/* 1: subs x0, x0, #1; b.ne 1b; ret */
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#else
/* 1: dec %rdi; jnz 1b; ret */
static const uint8_t code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#endif

static void write_map(const char *path, const void *page, const char *kind)
{
	static const struct timespec long_ago[] = { { 1577836800, 0 }, { 1577836800, 0 } };
	unlink(path); /* an earlier process of this number may have left one */
	FILE *map = fopen(path, "wx");

	if (map == NULL)
		exit(3);
	fprintf(map, "%" PRIxPTR " %x generated_loop\n", (uintptr_t)page, PAGE);
	fflush(map);
	if (strcmp(kind, "foreign") == 0 &&
	    fchown(fileno(map), ORDINARY_USER, ORDINARY_USER) < 0)
		exit(4);
	if (strcmp(kind, "stale") == 0 && futimens(fileno(map), long_ago) < 0)
		exit(5);
	fclose(map);
}

int main(int argc, char **argv)
{
	char path[64];
	char *page =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(uint64_t rounds);

	if (argc < 2 || page == MAP_FAILED)
		return 2;
	memcpy(page, code, sizeof code);
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(page, page + sizeof code);
	memcpy(&run, &page, sizeof run);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	if (strcmp(argv[1], "none") != 0)
		write_map(path, page, argv[1]);
	uint64_t budget = truth_budget_ns(argc - 1, argv + 1, 300);

	while (truth_thread_cpu_ns() < budget)
		run(1000000);
	printf("%s\n", path);
	return 0;
}
