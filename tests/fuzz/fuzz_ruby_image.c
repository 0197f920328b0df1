/*
 * The input is a file that a process has mapped.  Whatever it is, it is no interpreter, or one
 * that cannot be walked and says why, or one whose instructions are in one function, in order.
 *
 * The seeds in corpus/ruby_image are of tests/unit/target/fake_ruby.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "target/ruby.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_instructions(const struct ruby_layout *layout)
{
	const u64 size = layout->core[0].end - layout->core[0].start;

	if (layout->instruction_count == 0 || layout->instruction_count > RUBY_MAX_INSTRUCTIONS)
		abort();
	for (u32 i = 0; i < layout->instruction_count; i++) {
		if (layout->labels[i] >= size ||
		    (i > 0 && layout->labels[i] <= layout->labels[i - 1]))
			abort();
	}
}

static void check_image(const struct ruby_image *image)
{
	const char *why_not = ruby_image_why_not(image);
	struct ruby_layout layout;

	ruby_image_layout(image, 0x7f0000000000, &layout);
	if (strlen(ruby_image_version(image)) == 0 || (why_not && strlen(why_not) == 0))
		abort();
	if ((layout.is_known == 0) != (why_not != NULL))
		abort();
	if (layout.is_known == 0)
		return;
	if (layout.loop[0].end <= layout.loop[0].start ||
	    layout.core[0].end <= layout.core[0].start)
		abort();
	check_instructions(&layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct ruby_image *image = NULL;
	struct error err;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (ruby_image_read(path, &image, &err) == 0)
		check_image(image);
	ruby_image_free(image);
	close(fd);
	return 0;
}
