#include "collect/wall/wall.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/processes/image.h"
#include "collect/stacks/codes.h"
#include "record/writer.h"

/* Of more programs, ended threads are not remembered. */
#define KINDS_MOST 4096U

static uint32_t own_stack(struct wall *wall, const char *name, uint32_t *code)
{
	struct recording_frame frame;
	struct recording_stack stack = { 0 };
	uint32_t row = 0;

	codes_place_named_own(wall->codes, name, code, &frame);
	recording_writer_add_frame(wall->codes->writer, &frame, &stack.frame);
	recording_writer_add_stack(wall->codes->writer, &stack, &row);
	return row;
}

static uint32_t stack_of(struct wall *wall, const struct wall_row *row)
{
	switch (row->kind) {
	case WALL_ROW_STACK:
		return row->stack;
	case WALL_ROW_SHORT:
		return own_stack(wall, "[waits too short to read]", &wall->own_codes[0]);
	case WALL_ROW_QUEUE:
		return own_stack(wall, "[waits for a CPU]", &wall->queue_code);
	case WALL_ROW_UNSAMPLED:
		return own_stack(wall, "[not sampled]", &wall->unsampled_code);
	}
	return 0;
}

static void add_row(void *context, const struct wall_row *row)
{
	struct wall *wall = context;

	if (!recording_writer_has_room(wall->codes->writer)) {
		wall->without_row += row->ns;
		return;
	}
	recording_writer_add_sample(
		wall->codes->writer,
		&(struct recording_sample){
			.time_ns = row->time_ns > wall->session_start_ns
					   ? (int64_t)(row->time_ns - wall->session_start_ns)
					   : 0,
			.thread = row->thread,
			.stack = stack_of(wall, row),
			.state = row->state,
			.ending = row->ending,
			.weight_ns = (int64_t)row->ns,
		});
}

void wall_init(struct wall *wall, struct codes *codes, uint64_t session_start_ns)
{
	*wall = (struct wall){ .rows = { add_row, wall },
			       .codes = codes,
			       .session_start_ns = session_start_ns,
			       .now_ns = session_start_ns };
}

static void thread_free(struct wall_thread *thread)
{
	if (thread->sched_fd >= 0)
		close(thread->sched_fd);
	free(thread);
}

void wall_done(struct wall *wall)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	while (table_next(&wall->by_row, &cursor, &hi, &lo, &value))
		thread_free((void *)(uintptr_t)value);
	table_done(&wall->by_row);
	for (cursor = 0; table_next(&wall->kinds, &cursor, &hi, &lo, &value);)
		free((void *)(uintptr_t)value);
	table_done(&wall->kinds);
}

struct wall_thread *wall_find(const struct wall *wall, uint32_t row)
{
	uint64_t value = 0;

	return table_get(&wall->by_row, 0, row, &value) ? (void *)(uintptr_t)value : NULL;
}

const struct image_thread *wall_find_inner(const struct wall *wall, struct image *image,
					   const struct wall_thread *like, pid_t inner_tid)
{
	if (like->inner_tid == like->tid)
		return image_find_thread(image, inner_tid);
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct wall_thread *other = wall_find(wall, image->threads[i].row);

		if (other != NULL && other->inner_tid == inner_tid)
			return &image->threads[i];
	}
	return NULL;
}

/* Threads of one program are alike, but for the first one, which often waits for the others. */
static struct wall_kind *kind_of(struct wall *wall, const struct image *image, pid_t tid)
{
	const uint8_t is_first = tid == image->pid;
	uint64_t key[2] = { 0 }, value = 0;
	bool is_new;
	uint64_t *place;

	_Static_assert(sizeof key == sizeof image->name, "a name is the key");
	memcpy(key, image->name, strnlen(image->name, sizeof key - 1));
	memcpy((char *)key + sizeof key - 1, &is_first, 1);
	if (wall->kinds.count >= KINDS_MOST && !table_get(&wall->kinds, key[0], key[1], &value))
		return NULL;
	place = table_at(&wall->kinds, key[0], key[1], &is_new);
	if (is_new)
		*place = (uintptr_t)xzalloc(sizeof(struct wall_kind));
	return (void *)(uintptr_t)*place;
}

struct wall_thread *wall_add(struct wall *wall, const struct image *image, uint32_t row,
			     pid_t tid)
{
	bool is_new;
	uint64_t *place = row != 0 ? table_at(&wall->by_row, 0, row, &is_new) : NULL;

	if (place == NULL || !is_new)
		return NULL;
	struct wall_thread *thread = xzalloc(sizeof *thread);

	thread->row = row;
	thread->pid = image->pid;
	thread->tid = tid;
	wall_set_kind(wall, thread, image);
	*place = (uintptr_t)thread;
	return thread;
}

void wall_set_kind(struct wall *wall, struct wall_thread *thread, const struct image *image)
{
	thread->kind = kind_of(wall, image, thread->tid);
}

void wall_close(struct wall *wall, struct wall_thread *thread)
{
	wall_thread_close(thread, &wall->rows);
	table_remove(&wall->by_row, 0, thread->row);
	thread_free(thread);
}

uint64_t wall_claim(struct wall *wall, uint32_t row, uint64_t ns)
{
	struct wall_thread *thread = wall != NULL ? wall_find(wall, row) : NULL;

	if (wall == NULL)
		return ns;
	return thread != NULL ? wall_thread_claim(thread, ns, wall->now_ns) : 0;
}
