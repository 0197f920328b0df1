/*
 * interpreter_kinds - the table of interpreters (CPython, CRuby): how the recorder reads their
 * layouts from files and gives them to agents.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "abi/ring.h"

struct error;
struct ring_walks;

/*
 * The executable of a process with an interpreter: it may have copies of the interpreter's data
 * (ELF copy relocations).
 */
struct interpreter_program {
	const char *path; /* NULL: not known */
	uint64_t load_bias;
};

struct interpreter_kind {
	uint32_t language;          /* RECORDING_LANGUAGE_… */
	const char *name;           /* "Python" */
	const char *implementation; /* "CPython" */

	/*
	 * See target/python.h and target/ruby.h.  The image is a struct python_image or
	 * ruby_image.
	 */
	int (*read)(const char *path, void **out_image, struct error *err);
	void (*free)(void *image);
	const char *(*version)(const void *image);
	const char *(*why_not)(const void *image);

	/* Puts the layout of a process into its agent's ring. */
	void (*give)(const void *image, uint64_t load_bias,
		     const struct interpreter_program *program, struct ring_header *ring);
	/*
	 * What the agent found to be different from the layout ("thread states do not look
	 * as"); NULL: nothing.
	 */
	const char *(*judge)(const struct ring_walks *walks);
};

#define INTERPRETER_KINDS 2
extern const struct interpreter_kind interpreter_kinds[INTERPRETER_KINDS];
