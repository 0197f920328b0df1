/*
 * interpreter_kinds - what the recorder does with an interpreter, for each kind there is.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "abi/ring.h"

struct error;
struct ring_walks;

/* The program of a process that has an interpreter: it may have copies of its data. */
struct interpreter_program {
	const char *path; /* NULL: not known */
	uint64_t load_bias;
};

struct interpreter_kind {
	uint32_t language;          /* RECORDING_LANGUAGE_… */
	const char *name;           /* "Python" */
	const char *implementation; /* "CPython" */

	/* target/python.h, target/ruby.h have what these promise.  *out_image is a … */
	int (*read)(const char *path, void **out_image, struct error *err);
	void (*free)(void *image);
	const char *(*version)(const void *image);
	const char *(*why_not)(const void *image);

	/* Puts the layout of a process into its agent's ring. */
	void (*give)(const void *image, uint64_t load_bias,
		     const struct interpreter_program *program, struct ring_header *ring);
	/*
	 * What its agent found not to be as the version has it ("thread states do not look
	 * as"), NULL: nothing.
	 */
	const char *(*judge)(const struct ring_walks *walks);
};

#define INTERPRETER_KINDS 2
extern const struct interpreter_kind interpreter_kinds[INTERPRETER_KINDS];
