#include "python.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "python_checks.h"
#include "python_debug_offsets.h"
#include "elf_file.h"
#include "frame_entries.h"
#include "function_parts.h"
#include "layout_symbols.h"
#include "python_offsets.h"
#include "tls_find.h"
#include "python_version.h"

/* Defined in every version so far, and in nothing else. */
#define TELLTALE       "PyEval_EvalFrameEx"
#define STATE_FUNCTION "PyGILState_GetThisThreadState"
/* PyPy has other frames; it exports this. */
#define PYPY_TELLTALE "pypy_main_startup"
/*
 * The smallest loop has 29 KB; a smaller function only forwards to it. From 3.14 on the loop
 * may have been built as functions for single instructions that jump to each other
 * (--with-tail-call-interp): then the small function that calls the first of them is on the
 * stack like a loop.
 */
#define LOOP_MIN           8192u
#define LOOP_MIN_SINCE_314 256u

#define WHY_NOT_SIZE 160u

struct python_image {
	struct python_layout layout; /* with the file's own addresses */
	char version[PYTHON_VERSION_SIZE];
	char why_not[WHY_NOT_SIZE]; /* "": frames can be walked */
};

static const struct layout_symbol symbols[] = {
	{ "PyInterpreterState_Head", offsetof(struct python_layout, head_function), false },
	{ STATE_FUNCTION, offsetof(struct python_layout, state_function), false },
	{ "PyCode_Type", offsetof(struct python_layout, code_type), false },
	{ "PyCFunction_Type", offsetof(struct python_layout, builtin_type), false },
	{ "PyMethodDescr_Type", offsetof(struct python_layout, descriptor_type),
	  true /* static in 2.7 */ },
	{ "PyType_Type", offsetof(struct python_layout, type_type), false },
	{ "_Py_NoneStruct", offsetof(struct python_layout, none), false },
};

#define SYMBOLS (sizeof symbols / sizeof symbols[0])

/* Sets why its frames cannot be walked; returns false, so that a refusal is one expression. */
static bool refuse(struct python_image *image, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool refuse(struct python_image *image, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(image->why_not, sizeof image->why_not, format, args);
	va_end(args);
	return false;
}

static bool identify(struct python_image *image, struct elf_file *elf,
		     const struct python_row **out_row)
{
	struct python_debug_identity identity = { 0 };
	struct elf_file_symbol runtime;
	uint32_t version = python_version_read(elf);

	if (version == 0)
		return refuse(image, "its version cannot be found");
	image->layout.version = version;
	python_version_format(version, image->version);
	if (python_version_contradicts(elf, version))
		return refuse(image, "its name and its code have different versions");
	if (PYTHON_VERSION_LEVEL(version) < PYTHON_LEVEL_CANDIDATE)
		return refuse(image, "CPython %s is a pre-release, whose layout may change",
			      image->version);
	if (elf_file_find_any(elf, "_PyRuntime", &runtime) &&
	    python_debug_identify(elf, runtime.address, &identity) &&
	    identity.version != version)
		return refuse(image, "its debug offsets are those of another version");
	for (size_t i = 0; i < sizeof python_rows / sizeof python_rows[0]; i++) {
		const struct python_row *row = &python_rows[i];

		if (row->major == PYTHON_VERSION_MAJOR(version) &&
		    row->minor == PYTHON_VERSION_MINOR(version) &&
		    row->is_free_threaded == identity.is_free_threaded) {
			*out_row = row;
			return true;
		}
	}
	return refuse(image, "CPython %s%s is not known yet", image->version,
		      identity.is_free_threaded ? ", free-threaded," : "");
}

static bool find_addresses(struct python_image *image, struct elf_file *elf)
{
	const char *missing = layout_symbols_find(symbols, SYMBOLS, elf, &image->layout);

	return missing == NULL || refuse(image, "it has no symbol %s", missing);
}

static bool find_loop(struct python_image *image, struct elf_file *elf)
{
	const char *name =
		image->layout.version < 0x03060000 ? TELLTALE : "_PyEval_EvalFrameDefault";
	u64 size = 0,
	    least = image->layout.version < 0x030e0000 ? LOOP_MIN : LOOP_MIN_SINCE_314;
	CLEANUP(frame_entries_done) struct frame_entries entries;
	struct elf_file_symbol function;

	frame_entries_read(elf, &entries);
	if (!elf_file_find_any(elf, name, &function))
		return refuse(image, "it has no symbol %s", name);
	if (function_parts_find(elf, &entries, &function, image->layout.loop)) {
		for (size_t i = 0; i < CODE_RANGES; i++)
			size += image->layout.loop[i].end - image->layout.loop[i].start;
	}
	return size >= least || refuse(image, "%s is not the interpreter's loop", name);
}

/* Finds the way in which a walk gets the current thread's state. */
static bool find_state(struct python_image *image, struct elf_file *elf,
		       const struct python_row *row)
{
	struct python_layout *layout = &image->layout;
	struct elf_file_symbol function;

	layout->state_means = row->state_means;
	layout->attributes = row->attributes;
	if (row->state_means != PYTHON_STATE_BY_TLS)
		return true;
	if (!elf_file_find_any(elf, STATE_FUNCTION, &function) ||
	    !tls_find(elf, &function, &layout->state))
		return refuse(image, "where it keeps a thread's state is not known");
	return true;
}

static bool find_offsets(struct python_image *image, struct elf_file *elf,
			 const struct python_row *row)
{
	struct python_offsets *offsets = &image->layout.offsets;
	struct elf_file_symbol runtime;

	*offsets = row->offsets;
	if (row->debug_head.size > 0) {
		if (!elf_file_find_any(elf, "_PyRuntime", &runtime))
			return refuse(image, "it has no symbol _PyRuntime");
		const char *name =
			python_debug_offsets_read(elf, runtime.address, row, offsets);
		if (name)
			return refuse(image, "its debug offset of %s makes no sense", name);
	}

	const char *objects = python_checks_disagreement(elf, row, offsets);
	if (objects)
		return refuse(image, "its %s are not laid out as those of CPython %u.%u are",
			      objects, row->major, row->minor);
	return true;
}

/* Fills the layout; if it is refused, only the version remains. */
static void read_layout(struct python_image *image, struct elf_file *elf)
{
	struct python_layout *layout = &image->layout;
	const struct python_row *row = NULL;

	if (!identify(image, elf, &row) || !find_addresses(image, elf) ||
	    !find_loop(image, elf) || !find_state(image, elf, row) ||
	    !find_offsets(image, elf, row)) {
		*layout = (struct python_layout){ .version = layout->version };
		return;
	}
	layout->chain = row->chain;
	layout->position = row->position;
	layout->table = row->table;
	layout->is_free_threaded = row->is_free_threaded;
	layout->has_unicode = row->offsets.text_length != PYTHON_NO_FIELD;
}

int python_image_read(const char *path, struct python_image **out_image, struct error *err)
{
	CLEANUP(elf_file_close) struct elf_file elf;
	struct elf_file_symbol symbol;
	int rc = elf_file_open(path, &elf, err);

	if (rc < 0)
		return rc;

	bool is_pypy = elf_file_find(&elf, PYPY_TELLTALE, &symbol);

	if (!is_pypy && !elf_file_has(&elf, TELLTALE))
		return -ENOENT;

	struct python_image *image = xzalloc(sizeof *image);

	snprintf(image->version, sizeof image->version, "%s", is_pypy ? "PyPy" : "?");
	if (is_pypy)
		refuse(image, "PyPy is another interpreter than CPython");
	else
		read_layout(image, &elf);
	*out_image = image;
	return 0;
}

void python_image_free(struct python_image *image)
{
	free(image);
}

const char *python_image_version(const struct python_image *image)
{
	return image->version;
}

const char *python_image_why_not(const struct python_image *image)
{
	return image->why_not[0] != '\0' ? image->why_not : NULL;
}

void python_image_layout(const struct python_image *image, uint64_t load_bias,
			 struct python_layout *out_layout)
{
	*out_layout = image->layout;
	if (out_layout->chain == 0)
		return;
	out_layout->load_bias = load_bias;
	layout_ranges_move(out_layout->loop, load_bias);
	layout_symbols_move(symbols, SYMBOLS, load_bias, out_layout);
	layout_variable_move(&out_layout->state, load_bias);
}

void python_layout_use_copies(struct python_layout *layout, const char *path,
			      uint64_t load_bias)
{
	if (layout->chain != 0)
		layout_symbols_use_copies(symbols, SYMBOLS, path, load_bias, layout);
}
