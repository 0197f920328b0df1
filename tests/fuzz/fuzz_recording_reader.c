/*
 * Reads a damaged recording.  The first byte of the input chooses: 0, the rest is the file;
 * else a sound recording is patched, 1: a finished one, 2: a killed one with its journal,
 * 3: that journal.  A patch is an offset of three bytes, a length of one, and that many bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "record/reader.h"
#include "record/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	uint8_t *data;
	size_t len;
};

static struct {
	char *folder, *path, *wal, *shm;
	struct image finished, killed, journal;
} world;

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static struct image load(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd >= 0 && fstat(fd, &st) == 0);
	struct image image = { .data = xmalloc((size_t)st.st_size), .len = (size_t)st.st_size };
	check(read(fd, image.data, image.len) == st.st_size);
	close(fd);
	return image;
}

static void store(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void remove_files(void)
{
	unlink(world.path);
	unlink(world.wal);
	unlink(world.shm);
}

static void leave(void)
{
	remove_files();
	rmdir(world.folder);
}

/* One row in each table at least. */
static void fill(struct recording_writer *writer)
{
	uint32_t id;

	recording_writer_set(writer, "command", "[\"a\"]");
	recording_writer_add_process(writer, &(struct recording_process){ .period_ns = 7 },
				     &id);
	recording_writer_add_thread(writer, &(struct recording_thread){ .process = 1 }, &id);
	recording_writer_add_module(writer, &(struct recording_module){ .path = "/a" }, &id);
	recording_writer_add_mapping(
		writer, &(struct recording_mapping){ .process = 1, .module = 1 }, &id);
	for (uint32_t i = 0; i < 4; i++) {
		recording_writer_add_frame(
			writer, &(struct recording_frame){ .module = 1, .address = i }, &id);
		recording_writer_add_stack(
			writer, &(struct recording_stack){ .parent = i, .frame = i + 1 }, &id);
	}
	for (uint32_t i = 0; i < 200; i++)
		recording_writer_add_sample(
			writer, &(struct recording_sample){ .time_ns = i,
							    .thread = 1,
							    .stack = 1 + i % 4,
							    .weight_ns = 7 + i % 2 });
	recording_writer_add_function(
		writer, &(struct recording_function){ .name = "f", .file = "f.c" }, &id);
	recording_writer_add_location(
		writer, &(struct recording_location){ .frame = 1, .function = 1 });
	recording_writer_add_code(
		writer, &(struct recording_code){ .language = 1, .name = "f", .file = "f.py" },
		&id);
	recording_writer_add_interpreter(
		writer, &(struct recording_interpreter){ .process = 1, .module = 1 }, &id);
	recording_writer_add_lost(writer, "full", 3);
	recording_writer_note(writer, "note");
	recording_writer_add_file(writer, 1, "/f", "data", 4);
	check(recording_writer_commit(writer) == 0);
}

/* In memory where there is a folder for that: a disk would be waited for. */
static void make_world(void)
{
	struct recording_writer *writer;
	struct error err;
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	world.folder = xasprintf("%s/fathom-fuzz-XXXXXX", base);
	check(mkdtemp(world.folder) != NULL);
	world.path = xasprintf("%s/a.fathom", world.folder);
	world.wal = xasprintf("%s-wal", world.path);
	world.shm = xasprintf("%s-shm", world.path);
	atexit(leave);
	check(recording_writer_create(world.path, &writer, &err) == 0);
	fill(writer);
	world.killed = load(world.path);
	world.journal = load(world.wal);
	check(recording_writer_close(writer, &err) == 0);
	world.finished = load(world.path);
}

static void store_patched(const char *path, const struct image *image, struct bytes *b)
{
	uint8_t *copy = xmalloc(image->len);

	memcpy(copy, image->data, image->len);
	while (bytes_left(b) >= 5) {
		size_t at = bytes_u16(b);

		at |= (size_t)bytes_u8(b) << 16;
		size_t len = bytes_u8(b);
		const void *patch = bytes_take(b, len);

		at %= image->len;
		if (patch != NULL && at + len <= image->len)
			memcpy(copy + at, patch, len);
	}
	store(path, copy, image->len);
	free(copy);
}

/* What a caller may rely on. */
struct seen {
	uint32_t processes, threads, modules, frames, stacks, functions, codes;
};

static int see_process(void *context, const struct recording_process *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->processes);
	return 0;
}

static int see_thread(void *context, const struct recording_thread *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->threads && row->process <= seen->processes);
	return 0;
}

static int see_module(void *context, const struct recording_module *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->modules && row->build_id_len <= sizeof row->build_id);
	return 0;
}

static int see_mapping(void *context, const struct recording_mapping *row)
{
	struct seen *seen = context;

	check(row->process <= seen->processes && row->module <= seen->modules);
	return 0;
}

static int see_frame(void *context, const struct recording_frame *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->frames && row->module <= seen->modules);
	return 0;
}

static int see_stack(void *context, const struct recording_stack *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->stacks && row->parent < row->id && row->frame <= seen->frames);
	return 0;
}

static int see_function(void *context, const struct recording_function *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->functions && row->name != NULL &&
	      row->module <= seen->modules);
	check(row->file == NULL || strlen(row->file) < SIZE_MAX);
	return 0;
}

static int see_location(void *context, const struct recording_location *row)
{
	struct seen *seen = context;

	check(row->frame <= seen->frames && row->function <= seen->functions);
	return 0;
}

static int see_code(void *context, const struct recording_code *row)
{
	struct seen *seen = context;

	check(row->id == ++seen->codes && row->name != NULL);
	check(row->file == NULL || strlen(row->file) < SIZE_MAX);
	return 0;
}

static int see_interpreter(void *context, const struct recording_interpreter *row)
{
	struct seen *seen = context;

	check(row->process <= seen->processes && row->module <= seen->modules);
	return 0;
}

static int see_sample(void *context, const struct recording_sample *row)
{
	struct seen *seen = context;

	check(row->thread > 0 && row->thread <= seen->threads && row->stack <= seen->stacks);
	check(row->weight_ns >= 0 && row->state < 16);
	return 0;
}

static int see_sum(void *context, const struct recording_sum *row)
{
	struct seen *seen = context;

	check(row->thread > 0 && row->thread <= seen->threads && row->stack <= seen->stacks);
	check(row->weight_ns >= 0 && row->state < 16);
	return 0;
}

static int see_file(void *context, const struct recording_file *row)
{
	(void)context;
	check(row->path != NULL && (row->len == 0 || row->data != NULL));
	return 0;
}

static int see_number(void *context, const char *text, uint64_t samples)
{
	(void)context;
	(void)samples;
	check(strlen(text) < SIZE_MAX);
	return 0;
}

static int see_ending(void *context, uint32_t ending, uint64_t samples)
{
	(void)context;
	check(ending < 256 && samples > 0);
	return 0;
}

static int see_text(void *context, const char *text)
{
	(void)context;
	check(strlen(text) < SIZE_MAX);
	return 0;
}

static void read_all(struct recording_reader *reader, struct error *err)
{
	struct seen seen = { 0 };

	if (recording_reader_each_process(reader, see_process, &seen, err) < 0 ||
	    recording_reader_each_thread(reader, see_thread, &seen, err) < 0 ||
	    recording_reader_each_module(reader, see_module, &seen, err) < 0 ||
	    recording_reader_each_mapping(reader, see_mapping, &seen, err) < 0 ||
	    recording_reader_each_frame(reader, see_frame, &seen, err) < 0 ||
	    recording_reader_each_stack(reader, see_stack, &seen, err) < 0)
		return;
	recording_reader_each_sample(reader, see_sample, &seen, err);
	recording_reader_each_sum(reader, see_sum, &seen, err);
	recording_reader_each_ending(reader, see_ending, &seen, err);
	if (recording_reader_each_function(reader, see_function, &seen, err) == 0)
		recording_reader_each_location(reader, see_location, &seen, err);
	recording_reader_each_code(reader, see_code, &seen, err);
	recording_reader_each_interpreter(reader, see_interpreter, &seen, err);
	recording_reader_each_lost(reader, see_number, &seen, err);
	recording_reader_each_note(reader, see_text, &seen, err);
	recording_reader_each_file(reader, see_file, &seen, err);
	recording_reader_get(reader, "command");
	recording_reader_is_symbolized(reader);
}

static void store_input(const uint8_t *data, size_t size)
{
	struct bytes b = bytes_of(data, size);

	switch (bytes_u8(&b) % 4) {
	case 0:
		store(world.path, b.at, bytes_left(&b));
		break;
	case 1:
		store_patched(world.path, &world.finished, &b);
		break;
	case 2:
		store_patched(world.path, &world.killed, &b);
		store(world.wal, world.journal.data, world.journal.len);
		break;
	default:
		store(world.path, world.killed.data, world.killed.len);
		store_patched(world.wal, &world.journal, &b);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_reader *reader = NULL;
	struct error err = { "" };

	if (world.folder == NULL)
		make_world();
	store_input(data, size);
	if (recording_reader_open(world.path, &reader, &err) == 0)
		read_all(reader, &err);
	else
		check(strlen(err.text) > 10);
	recording_reader_close(reader);
	remove_files();
	return 0;
}
