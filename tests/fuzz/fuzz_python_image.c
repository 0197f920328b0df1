/*
 * The input is a file that a process has mapped.  Whatever it is, it is no interpreter, or one
 * that cannot be walked and says why, or one whose loop is somewhere.
 *
 * The seeds in corpus/python_image are libraries of tests/unit/target/fake_python.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "target/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_image(const struct python_image *image)
{
	const char *why_not = python_image_why_not(image);
	struct python_layout layout;

	python_image_layout(image, 0x7f0000000000, &layout);
	if (strlen(python_image_version(image)) == 0 || (why_not && strlen(why_not) == 0))
		abort();
	if ((layout.chain == 0) != (why_not != NULL))
		abort();
	if (layout.chain != 0 && layout.loop[0].end <= layout.loop[0].start)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct python_image *image = NULL;
	struct error err;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (python_image_read(path, &image, &err) == 0)
		check_image(image);
	python_image_free(image);
	close(fd);
	return 0;
}
