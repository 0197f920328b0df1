#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <link.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "by_hand.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/writer.h"
#include "symbol/symbolizer.h"

/* A function of this program to be found by where it is in its file. */
__attribute__((noinline)) void a_function_to_find(void);
void a_function_to_find(void)
{
	__asm__ volatile("");
}

static int find_offset(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t address = (uint64_t)(uintptr_t)a_function_to_find - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_memsz)
			*(uint64_t *)context = address - segment->p_vaddr + segment->p_offset;
	}
	return 1; /* the first one is the program */
}

static uint64_t function_offset(void)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	return offset;
}

struct bytes_of_file {
	char *data;
	size_t len;
};

static struct bytes_of_file read_this_program(void)
{
	struct bytes_of_file file = { 0 };
	size_t capacity = 0;
	FILE *stream = fopen("/proc/self/exe", "rb");

	assert_non_null(stream);
	for (int c = getc(stream); c != EOF; c = getc(stream)) {
		file.data = array_grow(file.data, file.len, &capacity, 1);
		file.data[file.len++] = (char)c;
	}
	fclose(stream);
	return file;
}

/* A recording with one sample in a module that is there as a copy only, of this program. */
static void write_copy(const char *name, const struct recording_module *module)
{
	struct recording_writer *writer = by_hand_create(name);
	struct bytes_of_file file = read_this_program();
	uint32_t id = 0;

	by_hand_add_thread(writer);
	recording_writer_add_module(writer, module, &id);
	recording_writer_add_file(writer, 1, "/nowhere/copied", file.data, file.len);
	by_hand_add_samples(writer, by_hand_add_stack(writer, 0, id, function_offset()), 1,
			    1000);
	by_hand_close(writer);
	free(file.data);
}

static const char *load_function(const char *name, struct profile **out_profile)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct error err;

	if (load_recording(by_hand_path(name), NULL, notes, out_profile, NULL, &err) < 0)
		fail_msg("%s", err.text);
	const struct weight *weight = profile_get_weight(*out_profile, 0);
	const struct stack *stack = profile_get_stack(*out_profile, weight->stack);
	const struct frame *frame = profile_get_frame(*out_profile, stack->frame);

	return profile_get_function(*out_profile, frame->function)->name;
}

static void a_file_that_is_gone_is_read_from_the_copy_of_its_build(void **state)
{
	struct recording_module module = { .path = "/nowhere/copied" };
	CLEANUP(profile_freep) struct profile *profile = NULL;

	(void)state;
	module.build_id_len = (uint8_t)symbol_read_build_id("/proc/self/exe", module.build_id);
	assert_true(module.build_id_len > 0);
	write_copy("copied.fathom", &module);
	assert_string_equal(load_function("copied.fathom", &profile), "a_function_to_find");
}

static void the_copy_of_another_build_gives_no_names(void **state)
{
	struct recording_module module = { .path = "/nowhere/copied",
					   .build_id = "another build",
					   .build_id_len = 20 };
	CLEANUP(profile_freep) struct profile *profile = NULL;
	CLEANUP(freep)
	char *nameless = xasprintf("copied+0x%llx", (unsigned long long)function_offset());

	(void)state;
	write_copy("other.fathom", &module);
	assert_string_equal(load_function("other.fathom", &profile), nameless);
}

static void a_file_without_a_build_id_goes_by_its_path(void **state)
{
	struct recording_module module = { .path = "/nowhere/copied" };
	CLEANUP(profile_freep) struct profile *profile = NULL;

	(void)state;
	write_copy("path.fathom", &module);
	assert_string_equal(load_function("path.fathom", &profile), "a_function_to_find");
}

static void write_in_kind(const char *name, enum module_kind kind, const char *host)
{
	struct recording_writer *writer = by_hand_create(name);

	by_hand_add_thread(writer);
	uint32_t id = by_hand_add_module(writer, kind, NULL);

	by_hand_add_samples(writer, by_hand_add_stack(writer, 0, id, 0x1234), 1, 1000);
	if (host)
		recording_writer_set(writer, KEY_HOST, host);
	by_hand_close(writer);
}

static void modules_without_a_file_are_called_by_what_they_are(void **state)
{
	static const struct {
		const char *file, *name;
		enum module_kind kind;
	} cases[] = {
		{ "jit.fathom", "[jit]+0x1234", MODULE_KIND_JIT },
		{ "unknown.fathom", "[unknown]+0x1234", MODULE_KIND_UNKNOWN },
		{ "kernel.fathom", "[kernel]+0x1234", MODULE_KIND_KERNEL },
		{ "vdso.fathom", "[vdso]+0x1234", MODULE_KIND_VDSO },
		{ "elf.fathom", "[unknown]+0x1234", MODULE_KIND_ELF },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(profile_freep) struct profile *profile = NULL;

		write_in_kind(cases[i].file, cases[i].kind, "Linux 2.6.0 of another machine");
		assert_string_equal(load_function(cases[i].file, &profile), cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_gone_is_read_from_the_copy_of_its_build),
		cmocka_unit_test(the_copy_of_another_build_gives_no_names),
		cmocka_unit_test(a_file_without_a_build_id_goes_by_its_path),
		cmocka_unit_test(modules_without_a_file_are_called_by_what_they_are),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
