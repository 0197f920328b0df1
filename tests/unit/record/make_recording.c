/*
 * make_recording - writes a recording and prints, as JSON, what is in it: the first argument
 * is the file.  read_recording.py compares.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "record/keys.h"
#include "record/writer.h"

#define THREADS 3
#define STACKS  20
#define SAMPLES 30000

/* A module, two functions and what executes them. */
static void add_python(struct recording_writer *writer)
{
	uint32_t id;

	recording_writer_add_module(writer,
				    &(struct recording_module){ .kind = MODULE_KIND_INTERPRETED,
								.path = "[python]" },
				    &id);
	recording_writer_add_code(writer,
				  &(struct recording_code){ .language = 1,
							    .name = "run",
							    .qualified_name = "Worker.run",
							    .file = "/w.py",
							    .line = 3 },
				  &id);
	recording_writer_add_code(
		writer, &(struct recording_code){ .language = 1, .name = "sorted" }, &id);
	recording_writer_add_interpreter(
		writer,
		&(struct recording_interpreter){
			.process = 1, .module = 1, .language = 1, .version = "3.11.2" },
		&id);
	recording_writer_add_interpreter(
		writer,
		&(struct recording_interpreter){ .process = 2,
						 .module = 1,
						 .language = 1,
						 .version = "3.16?",
						 .why_not = "not known" },
		&id);
}

static uint64_t address_of(uint32_t stack)
{
	switch (stack) {
	case 3: /* line 5 of the first */
		return 1ULL << 32 | 5;
	case 7:
		return UINT64_MAX;
	case 12:
		return 2ULL << 32;
	default:
		return 0x1000 + stack;
	}
}

static void add_fixed_rows(struct recording_writer *writer)
{
	uint32_t id, frame, stack = 0;

	recording_writer_set(writer, KEY_COMMAND, "[\"sort\", \"-n\"]");
	recording_writer_set_int(writer, KEY_RATE_HZ, 1000);
	for (int i = 0; i < 2; i++)
		recording_writer_add_process(
			writer,
			&(struct recording_process){ .parent = (uint32_t)i,
						     .pid = 100 + i,
						     .name = i == 0 ? "sort" : "odd\xff",
						     .end_ns = RECORDING_UNKNOWN,
						     .period_ns = 999983 + 10 * i },
			&id);
	for (int i = 0; i < THREADS; i++)
		recording_writer_add_thread(
			writer,
			&(struct recording_thread){ .process = 1 + (uint32_t)i % 2,
						    .tid = 100 + i,
						    .cpu_ns = RECORDING_UNKNOWN },
			&id);
	recording_writer_add_module(writer,
				    &(struct recording_module){ .path = "/usr/bin/sort" }, &id);
	add_python(writer);
	for (uint32_t i = 0; i < STACKS; i++) {
		recording_writer_add_frame(writer,
					   &(struct recording_frame){
						   .module = i == 3 || i == 12 ? 2 : 1,
						   .address = address_of(i),
					   },
					   &frame);
		recording_writer_add_stack(
			writer,
			&(struct recording_stack){ .parent = i % 5 == 0 ? 0 : stack,
						   .frame = frame },
			&stack);
	}
	recording_writer_add_function(writer,
				      &(struct recording_function){ .module = 1,
								    .name = "compare",
								    .file = "sort.c" },
				      &id);
	recording_writer_add_location(
		writer, &(struct recording_location){ .frame = 1, .function = 1, .line = 12 });
}

static void add_samples(struct recording_writer *writer)
{
	printf("[");
	for (uint32_t i = 0; i < SAMPLES; i++) {
		/* Time falls back now and then, as between threads. */
		struct recording_sample sample = { .time_ns =
							   i * 777777ll - (i % 10) * 1000000ll,
						   .thread = 1 + i % THREADS,
						   .stack = 1 + i * 7 % STACKS,
						   .state = i % 50 == 0 ? 5 : 0,
						   .ending = i % 60 == 0 ? 2 : 0,
						   .weight_ns = i % 9 == 0         ? i
								: i % THREADS == 1 ? 999993
										   : 999983 };
		recording_writer_add_sample(writer, &sample);
		if (i % 3500 == 0)
			recording_writer_commit(writer);
		printf("%s[%" PRId64 ",%u,%u,%u,%u,%" PRId64 "]", i > 0 ? "," : "",
		       sample.time_ns, sample.thread, sample.stack, sample.state, sample.ending,
		       sample.weight_ns);
	}
	printf("]\n");
}

int main(int argc, char **argv)
{
	struct recording_writer *writer;
	struct error err;

	if (argc != 2 || recording_writer_create(argv[1], &writer, &err) < 0)
		return 1;
	add_fixed_rows(writer);
	add_samples(writer);
	return recording_writer_close(writer, &err) < 0;
}
