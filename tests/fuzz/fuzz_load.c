/*
 * Loads a recording whose rows the input makes: each step is a byte that chooses the row, and
 * bytes for its fields.  Whatever they name, a profile or one sentence comes of it, and what is
 * in the profile hangs together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 64

static const char *const words[] = {
	NULL,
	"",
	"main",
	"/bin/true",
	"[vdso]",
	"\xff",
	"(deleted)",
	"/usr/bin/ruby3.1",
	"libpython3.so",
	"rb_vm_exec",
	"__tls_get_addr",
	"/lib/libc.so.6",
};

static const char *take_word(struct bytes *b)
{
	return words[bytes_u8(b) % (sizeof words / sizeof words[0])];
}

/* Small ones, zero and unknown. */
static int64_t take_figure(struct bytes *b)
{
	int8_t value = (int8_t)bytes_u8(b);

	return value == INT8_MIN ? RECORDING_UNKNOWN : value;
}

static void add_process(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_process(writer,
				     &(struct recording_process){
					     .parent = bytes_u8(b),
					     .name = take_word(b),
					     .period_ns = take_figure(b),
					     .unentered_reason = take_word(b),
				     },
				     &id);
}

static void add_thread(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_thread(writer,
				    &(struct recording_thread){
					    .process = bytes_u8(b),
					    .name = take_word(b),
					    .cpu_ns = take_figure(b),
					    .startup_ns = take_figure(b),
					    .exit_ns = take_figure(b),
					    .unentered_ns = take_figure(b),
					    .kernel_unsampled_ns = take_figure(b),
					    .traced_ns = take_figure(b),
				    },
				    &id);
}

static void add_module(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_module(writer,
				    &(struct recording_module){
					    .kind = (enum module_kind)(bytes_u8(b) % 8),
					    .path = take_word(b),
				    },
				    &id);
}

static void add_stack(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_frame(
		writer,
		&(struct recording_frame){ .module = bytes_u8(b), .address = bytes_u16(b) },
		&id);
	recording_writer_add_stack(
		writer,
		&(struct recording_stack){ .parent = bytes_u8(b), .frame = bytes_u8(b) }, &id);
}

static void add_calls(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_calls(
		writer,
		&(struct recording_calls){
			.thread = bytes_u8(b),
			.stack = bytes_u8(b),
			.calls = bytes_varint(b),
			.self_ns = (int64_t)bytes_varint(b),
			.shortest_ns = (int64_t)bytes_varint(b),
			.longest_ns = (int64_t)bytes_varint(b),
			.kind = bytes_u8(b),
			.misses = bytes_varint(b),
			.uncounted = { bytes_u8(b), bytes_u8(b), bytes_u8(b) },
			.left_out_ns = bytes_u8(b),
		},
		&id);
}

static void add_cost(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id = 0;

	recording_writer_add_cost(writer,
				  &(struct recording_cost){
					  .process = bytes_u8(b),
					  .kind = bytes_u8(b),
					  .inside_ps = (int64_t)bytes_varint(b),
					  .outside_ps = (int64_t)bytes_varint(b),
					  .inside_miss_ps = (int64_t)bytes_varint(b),
					  .outside_miss_ps = (int64_t)bytes_varint(b),
					  .spread_ps = bytes_u8(b),
					  .stretch_permille = bytes_u8(b) + 900,
					  .pace_permille = take_figure(b),
				  },
				  &id);
}

static void add_sample(struct recording_writer *writer, struct bytes *b)
{
	recording_writer_add_sample(writer, &(struct recording_sample){
						    .thread = bytes_u8(b),
						    .stack = bytes_u8(b),
						    .state = bytes_u8(b) % 16,
						    .ending = bytes_u8(b) % 16,
						    .weight_ns = take_figure(b),
					    });
}

static void add_location(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_function(writer,
				      &(struct recording_function){ .language = bytes_u8(b),
								    .module = bytes_u8(b),
								    .name = take_word(b),
								    .file = take_word(b) },
				      &id);
	recording_writer_add_location(writer, &(struct recording_location){
						      .frame = bytes_u8(b),
						      .depth = bytes_u8(b) % 3,
						      .function = bytes_u8(b),
						      .file = take_word(b),
					      });
}

static void add_file(struct recording_writer *writer, struct bytes *b)
{
	static const char *const paths[] = { "/tmp/perf-1.map", "/tmp/jit-1.dump",
					     "/bin/true" };
	static const char content[] = "0 ffff jitted\n";

	recording_writer_add_file(writer, bytes_u8(b), paths[bytes_u8(b) % 3], content,
				  bytes_u8(b) % sizeof content);
}

static void add_mapping(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_mapping(
		writer,
		&(struct recording_mapping){ .process = bytes_u8(b), .module = bytes_u8(b) },
		&id);
}

static void add_code(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_code(writer,
				  &(struct recording_code){ .language = bytes_u8(b) % 8,
							    .name = take_word(b),
							    .qualified_name = take_word(b),
							    .file = take_word(b),
							    .line = bytes_u8(b) },
				  &id);
	/* A frame of it, or of one that is not there. */
	recording_writer_add_frame(
		writer,
		&(struct recording_frame){ .module = bytes_u8(b),
					   .address =
						   (uint64_t)bytes_u8(b) << 32 | bytes_u8(b) },
		&id);
}

static void add_interpreter(struct recording_writer *writer, struct bytes *b)
{
	uint32_t id;

	recording_writer_add_interpreter(
		writer,
		&(struct recording_interpreter){ .process = bytes_u8(b),
						 .module = bytes_u8(b),
						 .language = bytes_u8(b) % 8,
						 .version = take_word(b),
						 .why_not = take_word(b) },
		&id);
}

static void set_fact(struct recording_writer *writer, struct bytes *b)
{
	static const char *const keys[] = { KEY_SYMBOLIZED, KEY_CHILDREN, KEY_KERNEL_CPU_NS,
					    KEY_COMMAND,    KEY_WALL_NS,  KEY_START_UNIX_NS };
	const char *key = keys[bytes_u8(b) % (sizeof keys / sizeof keys[0])];
	int64_t value = (int8_t)bytes_u8(b);

	if (value % 2)
		recording_writer_set_int(writer, key, value);
	else
		recording_writer_set(writer, key, value ? "0" : "[\"a\",1");
}

static void (*const rows[])(struct recording_writer *writer, struct bytes *b) = {
	add_process, add_thread,      add_module, add_stack,   add_sample,
	add_sample,  add_location,    add_file,   add_mapping, set_fact,
	add_code,    add_interpreter, add_calls,  add_cost,
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

/* Every weight stands on a thread and a stack, and the samples' sum is the info's. */
static void check_profile(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	uint64_t sampled_ns = 0;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		check(weight->thread.n && weight->thread.n <= profile_thread_count(profile));
		check(weight->stack.n && weight->stack.n <= profile_stack_count(profile));
		if (weight->samples)
			sampled_ns += weight->ns;
	}
	/* The times of traced calls are no samples'. */
	check(info->raw_ns > 0 || info->sampled_ns == sampled_ns);
	for (size_t i = 0; i < info->note_count; i++)
		check(info->notes[i] != NULL);
}

static const char *recording_path(void)
{
	static char path[64];

	if (!*path) {
		const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		snprintf(path, sizeof path, "%s/fathom-fuzz-load-%d", folder, (int)getpid());
	}
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = bytes_of(data, size);
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	unlink(recording_path());
	check(recording_writer_create(recording_path(), &writer, &err) == 0);
	for (int i = 0; i < STEPS_MAX && bytes_left(&b); i++)
		rows[bytes_u8(&b) % (sizeof rows / sizeof rows[0])](writer, &b);
	recording_writer_close(writer, &err);
	/* The first time names are looked up, the second time they are read. */
	for (int i = 0; i < 2; i++) {
		CLEANUP(notes_freep) struct notes *notes = notes_new();
		CLEANUP(late_names_freep) struct late_names *late = NULL;
		CLEANUP(profile_freep) struct profile *profile = NULL;
		int rc = load_recording(recording_path(), NULL, notes, &profile, &late, &err);

		check(rc == 0 ? profile != NULL : *err.text && !profile);
		if (profile) {
			late_names_keep(late, recording_path(), profile, notes);
			check_profile(profile);
		}
	}
	unlink(recording_path());
	return 0;
}
