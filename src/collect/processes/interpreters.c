#include "collect/processes/interpreters.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/processes/interpreter_kinds.h"
#include "collect/processes/mappings.h"
#include "collect/processes/ring_view.h"
#include "record/writer.h"
#include "target/load_bias.h"

/* "/proc/<pid>/exe" */
#define LINK_SIZE 32

struct interpreter_file {
	char *path;
	struct stat status; /* when it was read; its inode is 0 if unknown */
	const struct interpreter_kind *kind;
	void *image; /* the kind's */
	struct load_bias bias;
	bool is_noted;                 /* a note says why its frames are missing */
	struct interpreter_file *next; /* another kind of interpreter in the same file */
};

void interpreters_init(struct interpreters *interpreters, struct recording_writer *writer)
{
	*interpreters = (struct interpreters){ .writer = writer };
}

void interpreters_done(struct interpreters *interpreters)
{
	for (size_t i = 0; i < interpreters->count; i++) {
		struct interpreter_file *file = interpreters->files[i];

		file->kind->free(file->image);
		free(file->path);
		free(file);
	}
	free(interpreters->files);
	table_done(&interpreters->by_module);
}

/*
 * A path by which we can open the file: through the process's root, which may not be ours; a
 * deleted file through the mapping.
 */
static char *readable_path(const struct image *image, const struct module_place *place)
{
	char *inside = xasprintf("/proc/%d/root%s", (int)image->pid, place->path);

	if (access(inside, F_OK) == 0)
		return inside;
	free(inside);
	if (access(place->path, F_OK) == 0)
		return xstrdup(place->path);
	return xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)image->pid,
			 place->start, place->end);
}

/* Adds the file, which can be read at path, as one with this kind of interpreter. */
static struct interpreter_file *add_file(struct interpreters *interpreters,
					 const struct module_place *place, const char *path,
					 const struct interpreter_kind *kind, void *image)
{
	struct interpreter_file *file = xzalloc(sizeof *file);

	file->path = xstrdup(place->path);
	file->kind = kind;
	file->image = image;
	if (stat(place->path, &file->status) < 0)
		file->status.st_ino = 0;
	load_bias_read(path, &file->bias);
	interpreters->files = array_grow(interpreters->files, interpreters->count,
					 &interpreters->capacity, sizeof *interpreters->files);
	interpreters->files[interpreters->count++] = file;
	return file;
}

/* Reads the file's interpreters; NULL: it has none, or cannot be read. */
static struct interpreter_file *ask_file(struct interpreters *interpreters,
					 const struct image *image,
					 const struct module_place *place)
{
	CLEANUP(freep) char *path = readable_path(image, place);
	struct interpreter_file *last = NULL;

	for (size_t i = 0; i < INTERPRETER_KINDS; i++) {
		const struct interpreter_kind *kind = &interpreter_kinds[i];
		void *found = NULL;

		if (kind->read(path, &found, NULL) < 0)
			continue;
		struct interpreter_file *file =
			add_file(interpreters, place, path, kind, found);

		file->next = last;
		last = file;
	}
	return last;
}

/* Whether the path still leads to the file that was read. */
static bool is_still_there(const struct interpreter_file *file)
{
	struct stat now;

	if (stat(file->path, &now) < 0)
		return true; /* deleted: nothing shows that it was replaced */
	return now.st_dev == file->status.st_dev && now.st_ino == file->status.st_ino &&
	       now.st_mtim.tv_sec == file->status.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == file->status.st_mtim.tv_nsec;
}

/*
 * Whether a mapped file was read before; if so, *out_file is its interpreter, or NULL.  Files
 * are recognised by their module (path and build id), which costs no system call for the many
 * without an interpreter.  The few with one are checked by stat(2): a file without build id may
 * have been replaced by another build.
 */
static bool recall_file(const struct interpreters *interpreters,
			const struct module_place *place, struct interpreter_file **out_file)
{
	uint64_t known;

	if (!table_get(&interpreters->by_module, 0, place->module, &known))
		return false;
	struct interpreter_file *file = known == 0 ? NULL : interpreters->files[known - 1];

	if (file != NULL && !is_still_there(file))
		return false;
	*out_file = file;
	return true;
}

static struct interpreter_file *file_of(struct interpreters *interpreters,
					const struct image *image,
					const struct module_place *place)
{
	struct interpreter_file *file;

	if (recall_file(interpreters, place, &file))
		return file;
	file = ask_file(interpreters, image, place);
	*table_at(&interpreters->by_module, 0, place->module, NULL) =
		file == NULL ? 0 : interpreters->count;
	return file;
}

static void note_once(const struct interpreters *interpreters, struct interpreter_file *file,
		      const char *why_not)
{
	struct text note = { 0 };

	if (file->is_noted)
		return;
	file->is_noted = true;
	text_add_printable(&note, file->path, strlen(file->path));
	text_addf(&note, ": no %s functions in its stacks: %s", file->kind->name, why_not);
	recording_writer_note(interpreters->writer, text_string(&note));
	text_done(&note);
}

static struct recording_interpreter row_of(const struct image *image,
					   const struct image_interpreter *interpreter,
					   const char *why_not)
{
	return (struct recording_interpreter){
		.id = interpreter->row,
		.process = image->row,
		.module = interpreter->module,
		.language = interpreter->file->kind->language,
		.version = interpreter->file->kind->version(interpreter->file->image),
		.why_not = why_not,
	};
}

/* The process's executable and where it is mapped; `path` is NULL if that is unknown. */
static struct interpreter_program program_of(const struct image *image, char link[LINK_SIZE])
{
	struct interpreter_program found = { .path = NULL };
	const struct module_place *place;
	char program[PATH_MAX];
	struct load_bias bias;

	snprintf(link, LINK_SIZE, "/proc/%d/exe", image->pid);
	ssize_t len = readlink(link, program, sizeof program - 1);
	if (len < 0 || image->mappings == NULL)
		return found;
	program[len] = '\0';
	load_bias_read(link, &bias);
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		if (place->to_ns == UINT64_MAX && place->path != NULL &&
		    strcmp(place->path, program) == 0 &&
		    load_bias_of(&bias, place->start, place->file_offset, &found.load_bias)) {
			found.path = link;
			return found;
		}
	}
	return found;
}

/*
 * Gives the layout to the image's agent.  Returns NULL, or why not; *out_text is the caller's
 * to free.
 */
static const char *give_layout(struct image *image, const struct interpreter_file *file,
			       const struct module_place *place, char **out_text)
{
	const struct interpreter_kind *kind = file->kind;
	const char *why_not = kind->why_not(file->image);
	struct interpreter_program program;
	uint64_t load_bias;
	char link[LINK_SIZE];

	if (why_not != NULL)
		return why_not;
	if (image->ring == NULL && image->why_out_of_reach != NULL) {
		*out_text = xasprintf("native frames only, for no agent can be in it: %s",
				      image->why_out_of_reach);
		return *out_text;
	}
	if (image->ring == NULL)
		return "its stacks are copied by the kernel, and in the copies are native "
		       "frames only; 'fathom record -- COMMAND' has an agent see the "
		       "others, and 'fathom dump PID' shows them at a moment";
	if (image->languages & 1U << kind->language) {
		*out_text = xasprintf("the process has another %s, whose frames are there",
				      kind->name);
		return *out_text;
	}
	if (!load_bias_of(&file->bias, place->start, place->file_offset, &load_bias))
		return "it is mapped as no file is";
	program = program_of(image, link);
	kind->give(file->image, load_bias, &program, image->ring);
	image->languages |= 1U << kind->language;
	return NULL;
}

/*
 * Whether it is still unknown why no agent is in it (unentered_look() finds out): the note on
 * missing frames waits for that.
 */
static bool is_reach_open(const struct image *image)
{
	return image->has_program && !image->is_reach_known && !image->is_gone;
}

static bool may_be_new(const struct image *image, const struct module_place *place)
{
	for (size_t i = 0; i < image->interpreter_count; i++) {
		if (image->interpreters[i].module == place->module)
			return false;
	}
	return (image->ring != NULL || (image_is_copied(image) && !is_reach_open(image))) &&
	       place->path != NULL;
}

static void add_one(const struct interpreters *interpreters, struct image *image,
		    const struct module_place *place, struct interpreter_file *file)
{
	struct image_interpreter *interpreter =
		&image->interpreters[image->interpreter_count++];
	CLEANUP(freep) char *text = NULL;
	const char *why_not = give_layout(image, file, place, &text);

	*interpreter = (struct image_interpreter){ .file = file,
						   .module = place->module,
						   .has_layout = why_not == NULL };
	const struct recording_interpreter row = row_of(image, interpreter, why_not);

	recording_writer_add_interpreter(interpreters->writer, &row, &interpreter->row);
	if (why_not != NULL)
		note_once(interpreters, file, why_not);
}

/* Adds all interpreters of a file. */
static void add(const struct interpreters *interpreters, struct image *image,
		const struct module_place *place, struct interpreter_file *file)
{
	for (; file != NULL && image->interpreter_count < IMAGE_INTERPRETERS; file = file->next)
		add_one(interpreters, image, place, file);
}

void interpreters_see(struct interpreters *interpreters, struct image *image,
		      const struct module_place *place)
{
	if (may_be_new(image, place))
		add(interpreters, image, place, file_of(interpreters, image, place));
}

bool interpreters_are_in(struct interpreters *interpreters, const struct image *image)
{
	const struct module_place *place;

	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		const struct interpreter_file *file =
			place->to_ns == UINT64_MAX && place->path != NULL
				? file_of(interpreters, image, place)
				: NULL;

		if (file != NULL && file->kind->why_not(file->image) == NULL)
			return true;
	}
	return false;
}

void interpreters_recall(const struct interpreters *interpreters, struct image *image)
{
	const struct module_place *place;
	struct interpreter_file *file;

	if (image->mappings == NULL)
		return;
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		if (place->to_ns == UINT64_MAX && may_be_new(image, place) &&
		    recall_file(interpreters, place, &file))
			add(interpreters, image, place, file);
	}
}

void interpreters_look(struct interpreters *interpreters, struct image *image)
{
	const struct module_place *place;

	if (image->mappings == NULL)
		return;
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		if (place->to_ns == UINT64_MAX)
			interpreters_see(interpreters, image, place);
	}
}

/* Writes a note if the agent found that the interpreter's layout does not fit. */
static void note_one(const struct interpreters *interpreters, const struct image *image,
		     const struct image_interpreter *interpreter)
{
	const struct interpreter_kind *kind = interpreter->file->kind;
	const struct ring_walks walks = ring_view_walks(image);
	const char *what = kind->judge(&walks);

	if (what == NULL)
		return;
	CLEANUP(freep)
	char *why_not = xasprintf("its %s %s %s's should", what, kind->implementation,
				  kind->version(interpreter->file->image));
	const struct recording_interpreter row = row_of(image, interpreter, why_not);

	recording_writer_update_interpreter(interpreters->writer, &row);
	note_once(interpreters, interpreter->file, why_not);
}

void interpreters_note(const struct interpreters *interpreters, const struct image *image)
{
	for (size_t i = 0; i < image->interpreter_count; i++) {
		if (image->interpreters[i].has_layout)
			note_one(interpreters, image, &image->interpreters[i]);
	}
}
