#include "collect/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "collect/copied_events.h"
#include "collect/generated_code.h"
#include "collect/image.h"
#include "collect/mappings.h"
#include "collect/perf_events.h"
#include "collect/process_stat.h"
#include "collect/sideband.h"
#include "record/writer.h"
#include "target/build_id.h"
#include "target/maps.h"

/* Two clocks: a thread's own beginning may seem to be before its creation. */
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

/* No agent came into its program, so none goes along into those it starts. */
static bool passes_nothing_on(const struct image *image)
{
	return image->state == IMAGE_STARTING && !image->says_hello_late &&
	       (image->has_program || image->is_passed_by);
}

/* The program without an agent that it comes from: the first of several. */
static void note_passer(struct image *image, const struct image *from)
{
	image->is_passed_by = true;
	memcpy(image->passer, from->is_passed_by ? from->passer : from->name,
	       sizeof image->passer);
}

/*
 * Whether this thread, which is new, is known already: what an agent writes into shared memory
 * may be read before the kernel's word is.  Its tid may have been another one's, whose end was
 * lost.
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

	/* Where its creator was reported twice (sideband_follow()), so is it. */
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

/* Whether it has not even begun to end. */
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
	/* Timers are each thread's own. */
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
	/* The kernel says the same when an exec takes a process out of our sight. */
	if (image->state == IMAGE_STARTING && is_to_run_on(image->pid))
		image->unwatched_since_ns = event->time_ns;
	else
		tree_end(tree, image, event->time_ns);
}

/* A child that was only on its way to exec, unsampled, is the same image still. */
static bool is_still_starting(const struct image *image)
{
	return image->state == IMAGE_STARTING && image->samples == 0 &&
	       image->thread_count <= 1;
}

/* The same process with a new program: one thread, nothing mapped. */
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
		free(image->title.text);
		if (image->next_copied != NULL) {
			copied_events_release(image->copied);
			image->copied = image->next_copied;
			image->next_copied = NULL;
		}
	} else {
		struct image parent = { .row = image != NULL ? image->parent_row : 0 };
		struct image_counters counters = { 0 };
		uint64_t burned_ns = 0, ended_ns = 0;
		struct copied_events *copied = NULL;
		uint32_t in_storm = 0;

		if (image != NULL) {
			copied = copied_events_hold(image->next_copied != NULL
							    ? image->next_copied
							    : image->copied);
			counters = image->next_counters;
			image->next_counters = (struct image_counters){ 0 };
			parent.pid = image->parent_pid;
			ended_ns = image->ended_ns;
			in_storm = image->in_storm;
		}
		tree->last_ended_cpu_ns = &burned_ns;
		image = tree_add(tree, event->pid, &parent, event->time_ns);
		tree->last_ended_cpu_ns = NULL;
		image->cpu_before_ns = burned_ns;
		image->ended_ns = ended_ns;
		image->in_storm = in_storm;
		image->copied = copied;
		image->copied_from_ns = burned_ns;
		image->parent_pid = parent.pid;
		image->counters = counters;
		image->is_counter_tried = counters.events.count > 0;
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

static void copy_name(char to[16], const char *name)
{
	snprintf(to, 16, "%s", name);
}

static void tree_take_name(struct tree *tree, const struct sideband_event *event)
{
	struct image *image =
		event->is_exec ? tree_take_exec(tree, event) : tree_find(tree, event->pid);

	if (image == NULL)
		return;
	if (event->tid == event->pid)
		copy_name(image->name, event->name);
	struct image_thread *thread =
		image_thread_at(image, event->tid, event->time_ns, tree->writer);

	if (event->is_exec)
		thread->is_named_by_program = false;
	if (!thread->is_named_by_program)
		copy_name(thread->name, event->name);
	if (event->is_exec)
		image_write(image, tree->session_start_ns, tree->writer);
}

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0 &&
	       strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/SYSV", 5) != 0;
}

/* Which module a mapping is of; what has no file is one module for each image. */
static void tree_place_module(struct tree *tree, struct image *image, const char *path,
			      const uint8_t *build_id, size_t build_id_len,
			      struct module_place *place)
{
	struct recording_module module = { .kind = MODULE_KIND_ELF, .path = path };

	if (strcmp(path, "[vdso]") == 0) {
		module.kind = MODULE_KIND_VDSO;
		place->file_offset = 0;
	} else if (!is_file(path)) {
		module = (struct recording_module){ .kind = MODULE_KIND_JIT, .path = "[anon]" };
		if (image->jit_module == 0) {
			recording_writer_add_module(tree->writer, &module, &image->jit_module);
			generated_code_begin(image);
		}
		place->module = image->jit_module;
		return;
	} else if (build_id_len != 0) {
		module.build_id_len = place->build_id_len = (uint8_t)build_id_len;
		memcpy(module.build_id, build_id, build_id_len);
		memcpy(place->build_id, build_id, build_id_len);
	} else {
		module.build_id_len = (uint8_t)elf_build_id_read(path, module.build_id);
	}
	place->has_file = true;
	if (module.kind == MODULE_KIND_ELF)
		place->path = intern_get(&tree->paths, intern_string(&tree->paths, path), NULL);
	recording_writer_add_module(tree->writer, &module, &place->module);
}

static void strip_deleted(char *path)
{
	const char suffix[] = " (deleted)";
	const size_t len = strlen(path), suffix_len = sizeof suffix - 1;

	if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0)
		path[len - suffix_len] = '\0';
}

static void tree_add_place(const struct tree *tree, struct image *image,
			   const struct module_place *place)
{
	mappings_add(image->mappings, place);
	if (tree->mapped != NULL)
		tree->mapped(tree->context, image, place);
}

static void tree_take_map(struct tree *tree, const struct sideband_event *event)
{
	struct image *image = tree_find(tree, event->pid);
	struct module_place place = { .start = event->start,
				      .end = event->end,
				      .file_offset = event->file_offset,
				      .from_ns = event->time_ns,
				      .to_ns = UINT64_MAX };
	CLEANUP(freep) char *path = xstrdup(event->name);

	if (image == NULL || image->mappings == NULL)
		return;
	strip_deleted(path);
	/* The kernel maps the program before its loader (fs/binfmt_elf.c). */
	if (image->has_program && image->exe == NULL && is_file(path))
		image->exe = xstrdup(path);
	tree_place_module(tree, image, path, event->build_id, event->build_id_len, &place);
	tree_add_place(tree, image, &place);
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
	}
}

bool tree_read_maps(struct tree *tree, struct image *image, uint64_t time_ns)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;

	if (maps_read(image->pid, &maps, NULL) < 0 || maps_count(maps) == 0)
		return false;
	if (image->mappings == NULL)
		image->mappings = mappings_new();
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		struct module_place place = { .start = mapping->start,
					      .end = mapping->end,
					      .file_offset = mapping->file_offset,
					      .from_ns = time_ns,
					      .to_ns = UINT64_MAX };

		/* The vsyscall page is the kernel's, and of every process. */
		if (!mapping->is_executable || strcmp(mapping->path, "[vsyscall]") == 0)
			continue;
		tree_place_module(tree, image, mapping->path, NULL, 0, &place);
		if (!mappings_has(image->mappings, &place))
			tree_add_place(tree, image, &place);
	}
	return true;
}

static void read_comm(pid_t pid, pid_t tid, char out_name[16])
{
	char path[64], name[16] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return;
	if (fgets(name, sizeof name, file) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		copy_name(out_name, name);
	}
	fclose(file);
}

void tree_read_thread(struct tree *tree, struct image *image, pid_t tid, uint64_t time_ns)
{
	struct image_thread *thread = image_thread_at(image, tid, time_ns, tree->writer);

	read_comm(image->pid, tid, thread->name);
}

void tree_read_name(struct tree *tree, struct image *image)
{
	read_comm(image->pid, image->pid, image->name);
	image_write(image, tree->session_start_ns, tree->writer);
}

void tree_add_command(struct tree *tree, pid_t pid, uint64_t time_ns)
{
	struct image *image = tree_find(tree, pid);

	if (image != NULL)
		return;
	image = tree_add(tree, pid, NULL, time_ns);
	image->mappings = mappings_new();
	image->running_threads = 1;
	tree_read_name(tree, image);
}

void tree_read_process(struct tree *tree, struct image *image)
{
	char link[64], path[PATH_MAX];

	if (!tree->has_sideband)
		read_comm(image->pid, image->pid, image->name);
	snprintf(link, sizeof link, "/proc/%d/exe", (int)image->pid);
	ssize_t len = readlink(link, path, sizeof path - 1);

	if (len > 0 && image->exe == NULL)
		image->exe = xstrndup(path, (size_t)len);
	image_write(image, tree->session_start_ns, tree->writer);
}

struct image *tree_find_parent(const struct tree *tree, pid_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) ? tree_find(tree, stat.parent) : NULL;
}
