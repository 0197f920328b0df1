/*
 * replay - runs a fuzzer's function over files, without libFuzzer.
 *
 * Every build, whatever its compiler, so runs the inputs that once failed.  Each file is also
 * cut short at every length (up to a limit): the damage that happens most in practice.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LARGEST_INPUT ((size_t)1 << 20)
#define MOST_CUTS     ((size_t)512)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly size bytes, so that AddressSanitizer sees a read past the end. */
static void run_exactly(const uint8_t *data, size_t size)
{
	CLEANUP(freep) uint8_t *copy = xmalloc(size);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
}

static int run_file(const char *path)
{
	CLEANUP(freep) uint8_t *data = xmalloc(LARGEST_INPUT);
	FILE *file = fopen(path, "rb");
	size_t size, step;

	if (!file) {
		perror(path);
		return -1;
	}
	size = fread(data, 1, LARGEST_INPUT, file);
	fclose(file);
	step = size / MOST_CUTS + 1;
	for (size_t len = 0; len < size; len += step)
		run_exactly(data, len);
	run_exactly(data, size);
	return 0;
}

static int run_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0, failed = 0;

	if (!folder) {
		perror(path);
		return -1;
	}
	while ((entry = readdir(folder))) {
		CLEANUP(freep) char *file = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		failed |= run_file(file);
		count++;
	}
	closedir(folder);
	printf("%s: %d inputs\n", path, count);
	return count > 0 ? failed : -1;
}

int main(int argc, char **argv)
{
	int failed = 0;

	run_exactly((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
