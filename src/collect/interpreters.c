#include "collect/interpreters.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/ring.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/image.h"
#include "collect/mappings.h"
#include "record/writer.h"
#include "target/load_bias.h"
#include "target/python.h"

/* So many walks that fit nowhere, and none that did, are no accident. */
#define REFUSALS_TO_JUDGE 10

struct interpreter_file {
	char *path;
	struct stat status; /* when it was asked; its inode is 0 if that is not known */
	struct python_image *image;
	struct load_bias bias;
	bool is_told; /* a note says why its frames are not there */
};

void interpreters_init(struct interpreters *interpreters, struct recording_writer *writer)
{
	*interpreters = (struct interpreters){ .writer = writer };
}

void interpreters_done(struct interpreters *interpreters)
{
	for (size_t i = 0; i < interpreters->count; i++) {
		python_image_free(interpreters->files[i]->image);
		free(interpreters->files[i]->path);
		free(interpreters->files[i]);
	}
	free(interpreters->files);
	table_done(&interpreters->by_module);
}

/* The file as we reach it: one that was deleted through the process that has it mapped. */
static char *readable_path(const struct image *image, const struct module_place *place)
{
	if (access(place->path, F_OK) == 0)
		return xstrdup(place->path);
	return xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)image->pid,
			 place->start, place->end);
}

/* Asks the file; NULL: there is none, or it cannot be read. */
static struct interpreter_file *ask_file(struct interpreters *interpreters,
					 const struct image *image,
					 const struct module_place *place)
{
	CLEANUP(freep) char *path = readable_path(image, place);
	struct python_image *python = NULL;

	if (python_image_read(path, &python, NULL) < 0)
		return NULL;
	struct interpreter_file *file = xzalloc(sizeof *file);

	file->path = xstrdup(place->path);
	file->image = python;
	if (stat(place->path, &file->status) < 0)
		file->status.st_ino = 0;
	load_bias_read(path, &file->bias);
	interpreters->files = array_grow(interpreters->files, interpreters->count,
					 &interpreters->capacity, sizeof *interpreters->files);
	interpreters->files[interpreters->count++] = file;
	return file;
}

/* Whether the path leads to the file that was asked. */
static bool is_still_there(const struct interpreter_file *file)
{
	struct stat now;

	if (stat(file->path, &now) < 0)
		return true; /* gone: nothing tells that it was another */
	return now.st_dev == file->status.st_dev && now.st_ino == file->status.st_ino &&
	       now.st_mtim.tv_sec == file->status.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == file->status.st_mtim.tv_nsec;
}

/*
 * Whether a mapped file was asked; if so, *out_file is its interpreter, or NULL.  A module goes
 * by path and build id, which is as good as the file's own number and costs nothing for the
 * files that have none; the few that have one are looked at again, for a build without build id
 * may have replaced another.
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

	if (file->is_told)
		return;
	file->is_told = true;
	text_add_printable(&note, file->path, strlen(file->path));
	text_addf(&note, ": no Python functions in its stacks: %s", why_not);
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
		.language = RECORDING_LANGUAGE_PYTHON,
		.version = python_image_version(interpreter->file->image),
		.why_not = why_not,
	};
}

/* Objects of the interpreter that the process's program has copies of are looked for there. */
static void use_copies(const struct image *image, struct python_layout *layout)
{
	char link[32], program[PATH_MAX];
	const struct module_place *place;
	struct load_bias bias;
	uint64_t load_bias;

	snprintf(link, sizeof link, "/proc/%d/exe", image->pid);
	ssize_t len = readlink(link, program, sizeof program - 1);
	if (len < 0 || image->mappings == NULL)
		return;
	program[len] = '\0';
	load_bias_read(link, &bias);
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		if (place->to_ns == UINT64_MAX && place->path != NULL &&
		    strcmp(place->path, program) == 0 &&
		    load_bias_of(&bias, place->start, place->file_offset, &load_bias)) {
			python_layout_use_copies(layout, link, load_bias);
			return;
		}
	}
}

/* Why a layout cannot be given to the image's agent; NULL: it has it now. */
static const char *give_layout(struct image *image, const struct interpreter_file *file,
			       const struct module_place *place)
{
	const char *why_not = python_image_why_not(file->image);
	struct python_layout layout;
	uint64_t load_bias;

	if (why_not != NULL)
		return why_not;
	if (image->languages & 1U << RECORDING_LANGUAGE_PYTHON)
		return "the process has another Python, whose frames are there";
	if (!load_bias_of(&file->bias, place->start, place->file_offset, &load_bias))
		return "it is mapped as no file is";
	python_image_layout(file->image, load_bias, &layout);
	use_copies(image, &layout);
	image->ring->python = layout;
	/* Pairs with the acquire in the agent: the layout is whole when it is seen. */
	__atomic_store_n(&image->ring->has_python, 1, __ATOMIC_RELEASE);
	image->languages |= 1U << RECORDING_LANGUAGE_PYTHON;
	return NULL;
}

static bool may_be_new(const struct image *image, const struct module_place *place)
{
	for (size_t i = 0; i < image->interpreter_count; i++) {
		if (image->interpreters[i].module == place->module)
			return false;
	}
	return image->ring != NULL && place->path != NULL &&
	       image->interpreter_count < IMAGE_INTERPRETERS;
}

static void add(const struct interpreters *interpreters, struct image *image,
		const struct module_place *place, struct interpreter_file *file)
{
	struct image_interpreter *interpreter =
		&image->interpreters[image->interpreter_count++];
	const char *why_not = give_layout(image, file, place);

	*interpreter = (struct image_interpreter){ .file = file,
						   .module = place->module,
						   .has_layout = why_not == NULL };
	const struct recording_interpreter row = row_of(image, interpreter, why_not);

	recording_writer_add_interpreter(interpreters->writer, &row, &interpreter->row);
	if (why_not != NULL)
		note_once(interpreters, file, why_not);
}

void interpreters_see(struct interpreters *interpreters, struct image *image,
		      const struct module_place *place)
{
	if (!may_be_new(image, place))
		return;
	struct interpreter_file *file = file_of(interpreters, image, place);

	if (file != NULL)
		add(interpreters, image, place, file);
}

void interpreters_recall(const struct interpreters *interpreters, struct image *image)
{
	const struct module_place *place;
	struct interpreter_file *file;

	if (image->mappings == NULL)
		return;
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++) {
		if (place->to_ns == UINT64_MAX && may_be_new(image, place) &&
		    recall_file(interpreters, place, &file) && file != NULL)
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

void interpreters_tell(const struct interpreters *interpreters, const struct image *image)
{
	if (image->languages == 0)
		return;
	const uint64_t walks = __atomic_load_n(&image->ring->python_walks, __ATOMIC_RELAXED);
	const uint64_t refusals =
		__atomic_load_n(&image->ring->python_refusals, __ATOMIC_RELAXED);

	if (walks != 0 || refusals < REFUSALS_TO_JUDGE)
		return;
	for (size_t i = 0; i < image->interpreter_count; i++) {
		const struct image_interpreter *interpreter = &image->interpreters[i];

		if (!interpreter->has_layout)
			continue;
		CLEANUP(freep)
		char *why_not =
			xasprintf("its thread states do not look as CPython %s's should",
				  python_image_version(interpreter->file->image));
		const struct recording_interpreter row = row_of(image, interpreter, why_not);

		recording_writer_update_interpreter(interpreters->writer, &row);
		note_once(interpreters, interpreter->file, why_not);
	}
}
