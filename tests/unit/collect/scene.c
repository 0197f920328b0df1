#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/processes/ring_view.h"
#include "record/reader.h"
#include "record/writer.h"

void must(int rc, const struct error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

int scene_setup(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);
	struct error err;

	snprintf(scene->path, sizeof scene->path, "/tmp/test-pump-%d.fathom", (int)getpid());
	unlink(scene->path);
	must(recording_writer_create(scene->path, &scene->writer, &err), &err);
	scene->image = image_new(77);
	scene->image->period_ns = 1000;
	scene->image->mappings = mappings_new();
	recording_writer_add_process(scene->writer,
				     &(struct recording_process){ .pid = 77, .name = "made" },
				     &scene->image->row);
	scene->image->ring_bytes = RING_HEADER_BYTES + WORDS * sizeof(u64);
	scene->image->ring = mmap(NULL, scene->image->ring_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	scene->image->ring->word_count = WORDS;
	scene->image->ring_words = WORDS;
	ring_view_begin(scene->image);
	pump_init(&scene->pump, scene->writer, START_NS);
	*state = scene;
	return 0;
}

int scene_teardown(void **state)
{
	struct scene *scene = *state;

	pump_done(&scene->pump);
	image_free(scene->image);
	recording_writer_close(scene->writer, NULL);
	unlink(scene->path);
	free(scene);
	return 0;
}

void put(struct ring_header *ring, u8 type, const u64 *words, u16 count)
{
	u64 position = 0;

	assert_int_equal(ring_reserve(ring, ring->word_count, count, &position), 0);
	for (u16 i = 1; i < count; i++)
		ring_put(ring, ring->word_count, position, i, words[i]);
	ring_commit(ring, ring->word_count, position, count, type);
}

void put_stack(struct ring_header *ring, u64 hash, u64 inner, u64 outer)
{
	put(ring, RING_STACK, (const u64[]){ 0, hash, inner, outer }, 4);
}

void put_sample(struct ring_header *ring, u32 tid, u64 time_ns, u64 hash, u64 leaf)
{
	put(ring, RING_SAMPLE, (const u64[]){ 0, tid, time_ns, hash, leaf, 1000, 5000 }, 7);
}

void place(struct scene *scene, uint64_t start, uint64_t end, const char *path,
	   uint64_t from_ns)
{
	struct module_place place = { .start = start,
				      .end = end,
				      .from_ns = from_ns,
				      .to_ns = UINT64_MAX,
				      .has_file = true };

	recording_writer_add_module(
		scene->writer,
		&(struct recording_module){ .kind = MODULE_KIND_ELF, .path = path },
		&place.module);
	mappings_add(scene->image->mappings, &place);
}

unsigned int pump_all(struct scene *scene, int is_last)
{
	return pump_image(&scene->pump, scene->image, pump_mark(scene->image), is_last);
}

static int see_sample(void *context, const struct recording_sample *sample)
{
	struct seen *seen = context;

	if (seen->samples < 8) {
		seen->stacks[seen->samples] = sample->stack;
		seen->endings[seen->samples] = sample->ending;
	}
	if (seen->samples == 0 || sample->time_ns < seen->first_ns)
		seen->first_ns = sample->time_ns;
	if (seen->samples == 0 || sample->time_ns > seen->last_ns)
		seen->last_ns = sample->time_ns;
	seen->samples++;
	seen->weight_ns += (uint64_t)sample->weight_ns;
	return 0;
}

static int see_stack(void *context, const struct recording_stack *stack)
{
	struct seen *seen = context;

	assert_in_range(stack->id, 1, 15);
	seen->parents[stack->id] = stack->parent;
	seen->frames[stack->id] = stack->frame;
	return 0;
}

static int see_frame(void *context, const struct recording_frame *frame)
{
	struct seen *seen = context;

	assert_in_range(frame->id, 1, 15);
	seen->modules[frame->id] = frame->module;
	seen->addresses[frame->id] = frame->address;
	return 0;
}

static int see_lost(void *context, const char *reason, uint64_t samples)
{
	struct seen *seen = context;

	assert_non_null(reason);
	seen->lost += samples;
	return 0;
}

struct seen look(struct scene *scene)
{
	struct recording_reader *reader;
	struct seen seen = { 0 };
	struct error err;

	must(recording_writer_close(scene->writer, &err), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_sample(reader, see_sample, &seen, &err), &err);
	must(recording_reader_each_stack(reader, see_stack, &seen, &err), &err);
	must(recording_reader_each_frame(reader, see_frame, &seen, &err), &err);
	must(recording_reader_each_lost(reader, see_lost, &seen, &err), &err);
	recording_reader_close(reader);
	unlink(scene->path);
	must(recording_writer_create(scene->path, &scene->writer, &err), &err);
	return seen;
}
