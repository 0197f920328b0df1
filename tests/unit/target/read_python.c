/*
 * Prints what python_image_read() finds in each file: a line for the version or the refusal,
 * then one "name value" for each field, for test_python_files.py.
 *
 * usage: read_python FILE...
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "target/python.h"

static void print_layout(const struct python_layout *layout)
{
#define PRINT(name) printf("%s %u\n", #name, layout->offsets.name);
	PYTHON_OFFSET_MAP(PRINT)
#undef PRINT
	for (size_t i = 0; i < CODE_RANGES && layout->loop[i].end != 0; i++)
		printf("loop %" PRIu64 " %" PRIu64 "\n", (uint64_t)layout->loop[i].start,
		       (uint64_t)layout->loop[i].end);
	printf("hex %u\nchain %u\nposition %u\ntable %u\nstate_means %u\nfree_threaded %u\n",
	       layout->version, layout->chain, layout->position, layout->table,
	       layout->state_means, layout->is_free_threaded);
	printf("state_function %" PRIu64 "\nhead_function %" PRIu64 "\n",
	       (uint64_t)layout->state_function, (uint64_t)layout->head_function);
	printf("state_variable %u\nstate_place %" PRId64 "\nstate_module %" PRIu64 "\n",
	       layout->state.means, (int64_t)layout->state.place,
	       (uint64_t)layout->state.module);
	printf("code_type %" PRIu64 "\nnone %" PRIu64 "\n", (uint64_t)layout->code_type,
	       (uint64_t)layout->none);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct python_image *image;
		struct python_layout layout;
		struct error err = { "" };
		int rc = python_image_read(argv[i], &image, &err);

		printf("file %s\n", argv[i]);
		if (rc < 0) {
			printf("%s %s\n", rc == -ENOENT ? "none" : "error", err.text);
			continue;
		}
		printf("version %s\n", python_image_version(image));
		if (python_image_why_not(image))
			printf("why_not %s\n", python_image_why_not(image));
		python_image_layout(image, 0, &layout);
		print_layout(&layout);
		python_image_free(image);
	}
	return 0;
}
