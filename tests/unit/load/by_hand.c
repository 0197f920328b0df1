#include "by_hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "record/writer.h"

static char folder[64];

int by_hand_make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/fathom-load-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return 0;
}

int by_hand_remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
	return 0;
}

const char *by_hand_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

struct recording_writer *by_hand_create(const char *name)
{
	struct recording_writer *writer = NULL;
	struct error err;

	if (recording_writer_create(by_hand_path(name), &writer, &err) < 0)
		fail_msg("%s", err.text);
	return writer;
}

void by_hand_close(struct recording_writer *writer)
{
	struct error err;

	if (recording_writer_close(writer, &err) < 0)
		fail_msg("%s", err.text);
}

void by_hand_add_thread(struct recording_writer *writer)
{
	uint32_t process = 0, thread = 0;

	recording_writer_add_process(writer,
				     &(struct recording_process){
					     .pid = 77,
					     .name = "prog",
					     .end_ns = RECORDING_UNKNOWN,
					     .period_ns = 1000,
					     .exit_status = -1,
				     },
				     &process);
	recording_writer_add_thread(writer,
				    &(struct recording_thread){
					    .process = process,
					    .tid = 77,
					    .name = "main",
					    .end_ns = 5000,
					    .cpu_ns = 4000,
					    .startup_ns = RECORDING_UNKNOWN,
					    .exit_ns = RECORDING_UNKNOWN,
					    .unentered_ns = RECORDING_UNKNOWN,
					    .kernel_unsampled_ns = RECORDING_UNKNOWN,
					    .traced_ns = RECORDING_UNKNOWN,
				    },
				    &thread);
	assert_int_equal(process, 1);
	assert_int_equal(thread, 1);
}

uint32_t by_hand_add_module(struct recording_writer *writer, enum module_kind kind,
			    const char *path)
{
	uint32_t module = 0, mapping = 0;

	recording_writer_add_module(
		writer, &(struct recording_module){ .kind = kind, .path = path }, &module);
	recording_writer_add_mapping(writer,
				     &(struct recording_mapping){
					     .process = 1,
					     .module = module,
					     .start = 0x10000,
					     .end = 0x20000,
					     .file_offset = 0x1000,
					     .to_ns = RECORDING_UNKNOWN,
				     },
				     &mapping);
	return module;
}

uint32_t by_hand_add_stack(struct recording_writer *writer, uint32_t parent, uint32_t module,
			   uint64_t address)
{
	uint32_t frame = 0, stack = 0;

	recording_writer_add_frame(
		writer, &(struct recording_frame){ .module = module, .address = address },
		&frame);
	recording_writer_add_stack(
		writer, &(struct recording_stack){ .parent = parent, .frame = frame }, &stack);
	return stack;
}

void by_hand_add_samples(struct recording_writer *writer, uint32_t stack, int count,
			 int64_t weight_ns)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(recording_writer_add_sample(writer,
							     &(struct recording_sample){
								     .time_ns = i,
								     .thread = 1,
								     .stack = stack,
								     .weight_ns = weight_ns,
							     }),
				 0);
}

void by_hand_name_frame(struct recording_writer *writer, uint32_t frame, uint32_t depth,
			const char *function, uint32_t line)
{
	uint32_t id = 0;

	recording_writer_add_function(
		writer,
		&(struct recording_function){
			.module = 1, .name = function, .file = "prog.c", .line = 10 },
		&id);
	assert_int_equal(recording_writer_add_location(writer,
						       &(struct recording_location){
							       .frame = frame,
							       .depth = depth,
							       .function = id,
							       .file = "prog.c",
							       .line = line,
							       .address = 0x400000 + frame,
						       }),
			 0);
}

uint32_t by_hand_add_code(struct recording_writer *writer, uint32_t language, const char *name,
			  const char *qualified, const char *file, uint32_t line)
{
	uint32_t id = 0;

	assert_int_equal(recording_writer_add_code(writer,
						   &(struct recording_code){
							   .language = language,
							   .name = name,
							   .qualified_name = qualified,
							   .file = file,
							   .line = line,
						   },
						   &id),
			 0);
	return id;
}

void by_hand_add_interpreter(struct recording_writer *writer, uint32_t language,
			     uint32_t module, const char *version, const char *why_not)
{
	uint32_t id = 0;

	assert_int_equal(recording_writer_add_interpreter(writer,
							  &(struct recording_interpreter){
								  .process = 1,
								  .module = module,
								  .language = language,
								  .version = version,
								  .why_not = why_not,
							  },
							  &id),
			 0);
}
