/*
 * Prints what ruby_image_read() finds in each file: a line for the version or the refusal, then
 * one "name value" for each field.
 *
 * usage: read_ruby FILE...
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "target/ruby.h"

static void print_ranges(const char *name, const struct code_range ranges[CODE_RANGES])
{
	for (size_t i = 0; i < CODE_RANGES && ranges[i].end != 0; i++)
		printf("%s %" PRIu64 " %" PRIu64 "\n", name, (uint64_t)ranges[i].start,
		       (uint64_t)ranges[i].end);
}

static void print_instructions(const struct ruby_layout *layout)
{
	static const char *const operators[] = {
#define OPERATOR_NAME(name, text, receiver) #name,
		RUBY_OPERATOR_MAP(OPERATOR_NAME)
#undef OPERATOR_NAME
	};

	printf("instruction_count %u\n", layout->instruction_count);
	for (u32 i = 0; i < layout->instruction_count; i++)
		printf("label %u %s%s\n", layout->labels[i],
		       operators[layout->instructions[i] & RUBY_INSTRUCTION_OPERATOR],
		       layout->instructions[i] & RUBY_INSTRUCTION_PC_STAYS ? " stays" : "");
}

static void print_addresses(const struct ruby_layout *layout)
{
	printf("context_variable %u\ncontext_place %" PRId64 "\ncontext_module %" PRIu64 "\n",
	       layout->context.means, (int64_t)layout->context.place,
	       (uint64_t)layout->context.module);
	printf("vm %" PRIu64 "\nsymbols %" PRIu64 "\n", (uint64_t)layout->vm,
	       (uint64_t)layout->symbols);
#define PRINT(name, text) \
	printf("class_%s %" PRIu64 "\n", #text, (uint64_t)layout->classes[RUBY_CLASS_##name]);
	RUBY_CLASS_MAP(PRINT)
#undef PRINT
#define PRINT(name) \
	printf("function_%s %" PRIu64 "\n", #name, (uint64_t)layout->functions.name);
	RUBY_FUNCTION_MAP(PRINT)
#undef PRINT
}

static void print_layout(const struct ruby_layout *layout)
{
#define PRINT(name) printf("%s %u\n", #name, layout->offsets.name);
	RUBY_OFFSET_MAP(PRINT)
#undef PRINT
	printf("is_known %u\ncontext_means %u\nclass_ext_is_pointer %u\nsingleton_flag %u\n",
	       layout->is_known, layout->context_means, layout->class_ext_is_pointer,
	       layout->singleton_flag);
	printf("first_line_is_value %u\ntext_length_in_flags %u\nnil %u\nlast_operator_id %u\n",
	       layout->first_line_is_value, layout->text_length_in_flags, layout->nil,
	       layout->last_operator_id);
	print_ranges("loop", layout->loop);
	print_ranges("core", layout->core);
	print_addresses(layout);
	print_instructions(layout);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct ruby_image *image;
		struct ruby_layout layout;
		struct error err = { "" };
		int rc = ruby_image_read(argv[i], &image, &err);

		printf("file %s\n", argv[i]);
		if (rc < 0) {
			printf("%s %s\n", rc == -ENOENT ? "none" : "error", err.text);
			continue;
		}
		printf("version %s\n", ruby_image_version(image));
		if (ruby_image_why_not(image))
			printf("why_not %s\n", ruby_image_why_not(image));
		ruby_image_layout(image, 0, &layout);
		print_layout(&layout);
		ruby_image_free(image);
	}
	return 0;
}
