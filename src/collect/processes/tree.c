#include "collect/processes/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collect/events/copied_events.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"
#include "collect/events/sideband_event.h"
#include "collect/processes/tree_internal.h"
#include "record/writer.h"

/* Tolerance between two clocks: a thread's own start may seem to be before its creation. */
#define START_SLACK_NS 2000000

void tree_init(struct tree *tree, struct recording_writer *writer, uint64_t session_start_ns)
{
	*tree = (struct tree){ .writer = writer, .session_start_ns = session_start_ns };
}

void tree_close(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		image_free(tree->images[i]);
	free(tree->images);
	intern_done(&tree->paths);
	table_done(&tree->by_pid);
}

struct image *tree_find(const struct tree *tree, pid_t pid)
{
	uint64_t image;

	if (!table_get(&tree->by_pid, 0, (uint32_t)pid, &image))
		return NULL;
	return (struct image *)(uintptr_t)image;
}

static void tree_forget(struct tree *tree, struct image *image)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->images[i] == image) {
			tree->images[i] = tree->images[--tree->count];
			break;
		}
	}
	if (tree_find(tree, image->pid) == image)
		table_remove(&tree->by_pid, 0, (uint32_t)image->pid);
}

void tree_end(struct tree *tree, struct image *image, uint64_t time_ns)
{
	image->is_ended = true;
	image->end_ns = time_ns;
	tree_leave(tree, image);
}

void tree_leave(struct tree *tree, struct image *image)
{
	tree_forget(tree, image);
	if (tree->ended != NULL)
		tree->ended(tree->context, image);
	if (tree->last_ended_cpu_ns != NULL)
		*tree->last_ended_cpu_ns = image->cpu_ns;
	image_free(image);
}

static void tree_write_new(struct tree *tree, struct image *image)
{
	recording_writer_add_process(
		tree->writer,
		&(struct recording_process){
			.parent = image->parent_row,
			.pid = image->pid,
			.name = image->name,
			.start_ns =
				image->start_ns > tree->session_start_ns
					? (int64_t)(image->start_ns - tree->session_start_ns)
					: 0,
			.end_ns = RECORDING_UNKNOWN,
			.period_ns = RECORDING_UNKNOWN,
			.exit_status = -1,
			.title = image->title.text,
		},
		&image->row);
}

static bool passes_timers(const struct image *from)
{
	return from != NULL && from->trigger.passes_timers;
}

struct image *tree_add(struct tree *tree, pid_t pid, struct image *parent, uint64_t time_ns)
{
	struct image *old = tree_find(tree, pid);
	struct image *image = image_new(pid);

	image->start_ns = time_ns;
	image->serial = tree->serial++;
	if (parent != NULL) {
		image->parent_row = parent->row;
		memcpy(image->name, parent->name, sizeof image->name);
		if (parent->title.text != NULL)
			image->title.text = xstrdup(parent->title.text);
	}
	if (old == NULL && parent != NULL)
		parent->trigger.children++;
	image->trigger.begins_by_timers = image->trigger.passes_timers =
		passes_timers(old != NULL ? old : parent);
	if (old != NULL)
		tree_end(tree, old, time_ns);
	tree_write_new(tree, image);
	*table_at(&tree->by_pid, 0, (uint32_t)pid, NULL) = (uintptr_t)image;
	tree->images =
		array_grow(tree->images, tree->count, &tree->capacity, sizeof *tree->images);
	tree->images[tree->count++] = image;
	return image;
}

/* Its program has no agent, so the programs that it starts get none. */
static bool passes_nothing_on(const struct image *image)
{
	return image->state == IMAGE_STARTING && !image->delays_handshake &&
	       (image->has_program || image->is_passed_by);
}

/* Notes the program without an agent that started it: the outermost of several. */
static void note_passer(struct image *image, const struct image *from)
{
	image->is_passed_by = true;
	memcpy(image->passer, from->is_passed_by ? from->passer : from->name,
	       sizeof image->passer);
}

/*
 * Whether this new thread is known already: an agent's records may be read before the kernel's.
 * A known thread of this tid may also be an older one, whose end was lost.
 */
static bool is_known_thread(struct image *image, const struct sideband_event *event)
{
	const struct image_thread *thread = image_find_thread(image, event->tid);

	return thread != NULL && thread->end_ns == UINT64_MAX &&
	       thread->start_ns + START_SLACK_NS >= event->time_ns;
}

static void tree_take_fork(struct tree *tree, const struct sideband_event *event)
{
	struct image *parent = tree_find(tree, event->parent_pid);

	if (event->pid == event->parent_pid) {
		if (parent == NULL)
			return;
		if (!is_known_thread(parent, event))
			image_forget_tid(parent, event->tid);
		image_thread_at(parent, event->tid, event->time_ns, tree->writer)->creator =
			event->parent_tid;
		parent->running_threads++;
		return;
	}
	struct image *image = tree_find(tree, event->pid);

	/*
	 * A thread whose events are reported twice (sideband_follow()) has its children
	 * reported twice.
	 */
	if (tree->leaves_children ||
	    (image != NULL && image->start_ns + START_SLACK_NS >= event->time_ns))
		return;
	image = tree_add(tree, event->pid, parent, event->time_ns);
	image->mappings = parent != NULL ? mappings_copy(parent->mappings) : mappings_new();
	image->running_threads = 1;
	if (parent != NULL)
		image->copied = copied_events_hold(parent->copied);
	if (parent != NULL && passes_nothing_on(parent))
		note_passer(image, parent);
	image->is_recorded = parent != NULL && parent->is_recorded;
	image->parent_pid = event->parent_pid;
	image_thread_at(image, event->tid, event->time_ns, tree->writer);
}

/* Whether the process has not begun to exit. */
static bool is_to_run_on(pid_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) && !(stat.flags & PROCESS_EXITING);
}

static void tree_take_thread_end(struct image *image, struct image_thread *thread,
				 uint64_t time_ns)
{
	thread->end_ns = time_ns;
	image->ended_threads++;
	short_threads_forget(&image->short_threads, thread->tid);
	/* Only inherited events need short_threads.h; each thread has timers of its own. */
	if (!image->has_sampling_events)
		return;
	thread->has_ended_young = short_threads_take_end(
		&image->short_threads,
		&(struct short_threads_life){
			.creator = thread->creator,
			.end_ns = time_ns,
			.life_ns = time_ns > thread->start_ns ? time_ns - thread->start_ns : 0,
			.cpu_ns = thread->covered_ns,
			.period_ns = image->period_ns,
		},
		perf_open_unshared);
}

static void tree_take_exit(struct tree *tree, const struct sideband_event *event)
{
	struct image *image = tree_find(tree, event->pid);

	if (image == NULL)
		return;
	struct image_thread *thread = image_find_thread(image, event->tid);

	if (thread != NULL && thread->end_ns == UINT64_MAX)
		tree_take_thread_end(image, thread, event->time_ns);
	if (image->running_threads == 0 || --image->running_threads > 0)
		return;
	/*
	 * The kernel reports the same when an exec changes the process's rights and so ends our
	 * events.
	 */
	if (image->state == IMAGE_STARTING && is_to_run_on(image->pid))
		image->unwatched_since_ns = event->time_ns;
	else
		tree_end(tree, image, event->time_ns);
}

/* Whether it is a forked child without samples: then exec continues the same image. */
static bool is_still_starting(const struct image *image)
{
	return image->state == IMAGE_STARTING && image->samples == 0 &&
	       image->thread_count <= 1;
}

/*
 * Makes the image of a program that replaces another by exec; old is NULL if that is unknown.
 */
static struct image *replace_image(struct tree *tree, struct image *old,
				   const struct sideband_event *event)
{
	struct image parent = { .row = old != NULL ? old->parent_row : 0 };
	struct image_counters counters = { 0 };
	uint64_t burned_ns = 0, ended_ns = 0;
	struct copied_events *copied = NULL;
	uint32_t in_storm = 0;

	if (old != NULL) {
		copied = copied_events_hold(old->next_copied != NULL ? old->next_copied
								     : old->copied);
		counters = old->next_counters;
		old->next_counters = (struct image_counters){ 0 };
		parent.pid = old->parent_pid;
		ended_ns = old->ended_ns;
		in_storm = old->in_storm;
	}
	tree->last_ended_cpu_ns = &burned_ns;

	struct image *image = tree_add(tree, event->pid, &parent, event->time_ns);
	tree->last_ended_cpu_ns = NULL;
	image->cpu_before_ns = burned_ns;
	image->ended_ns = ended_ns;
	image->in_storm = in_storm;
	image->copied = copied;
	image->copied_from_ns = burned_ns;
	image->parent_pid = parent.pid;
	image->counters = counters;
	image->is_counter_tried = counters.events.count > 0;
	return image;
}

/* An exec: the process has a new program, one thread and no mappings. */
static struct image *tree_take_exec(struct tree *tree, const struct sideband_event *event)
{
	struct image *image = tree_find(tree, event->pid);
	struct image before = { 0 };
	struct title title = { 0 };
	const bool is_recorded =
		image != NULL && (image->is_recorded || image->next_is_recorded);

	if (image != NULL && passes_nothing_on(image))
		note_passer(&before, image);
	if (image != NULL)
		title_take_exec(&image->title, event->time_ns, &title);
	if (image != NULL && is_still_starting(image)) {
		mappings_free(image->mappings);
		free(image->exe);
		image->exe = NULL;
		image->is_attach_judged = false;
		free(image->title.text);
		if (image->next_copied != NULL) {
			copied_events_release(image->copied);
			image->copied = image->next_copied;
			image->next_copied = NULL;
		}
	} else {
		image = replace_image(tree, image, event);
	}
	image->title = title;
	image->mappings = mappings_new();
	image->running_threads = 1;
	image->has_program = true;
	image->is_passed_by = before.is_passed_by;
	memcpy(image->passer, before.passer, sizeof image->passer);
	image->is_recorded = is_recorded;
	image->next_is_recorded = false;
	return image;
}

static void tree_take_name(struct tree *tree, const struct sideband_event *event)
{
	struct image *image =
		event->is_exec ? tree_take_exec(tree, event) : tree_find(tree, event->pid);

	if (image == NULL)
		return;
	if (event->tid == event->pid)
		tree_copy_name(image->name, event->name);
	struct image_thread *thread =
		image_thread_at(image, event->tid, event->time_ns, tree->writer);

	if (event->is_exec)
		thread->is_named_by_program = false;
	image_thread_kernel_name(image, thread, event->name);
	if (event->is_exec)
		image_write(image, tree->session_start_ns, tree->writer);
}

void tree_take(struct tree *tree, const struct sideband_event *event)
{
	switch (event->kind) {
	case SIDEBAND_FORK:
		tree_take_fork(tree, event);
		return;
	case SIDEBAND_EXIT:
		tree_take_exit(tree, event);
		return;
	case SIDEBAND_NAME:
		tree_take_name(tree, event);
		return;
	case SIDEBAND_MAP:
		tree_take_map(tree, event);
		return;
	case SIDEBAND_SWITCH:
		return;
	}
}
