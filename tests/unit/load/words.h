/*
 * words - recordings made by hand in which stacks are written as words.
 *
 * "python:PyNumber_Add" is a function of a native module, "@run:12" an interpreted one at a
 * line.  Both are there once they were added by the name before the colon.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct recording_writer;

struct words {
	struct recording_writer *writer;
	uint32_t language; /* of what is added by words_add_code(), words_add_interpreter() */
	struct {
		const char *name;
		uint32_t id, module;
	} modules[12], codes[12];
	size_t module_count, code_count;
	uint32_t interpreted[3]; /* modules by language */
	uint32_t frame_count;    /* all that were named */
};

/*
 * A recording of this file name with one thread; by_hand_close(words->writer) ends it.  Its
 * language is Python's, unless another is set.
 */
void words_begin(struct words *words, const char *file);
/* path: NULL is code made at run time. */
void words_add_module(struct words *words, const char *name, const char *path);
uint32_t words_module(const struct words *words, const char *name);
/* The process has an interpreter in that module; why_not may be NULL. */
void words_add_interpreter(struct words *words, const char *module, const char *version,
			   const char *why_not);
/* qualified and file may be NULL. */
void words_add_code(struct words *words, const char *name, const char *qualified,
		    const char *file, uint32_t line);
/* count samples of 1000 ns on this stack: the outermost frame first, spaces between them. */
void words_add(struct words *words, const char *stack, int count);
/* The same of traced calls, which take 1,000 ns together without what they call. */
void words_add_calls(struct words *words, const char *stack, uint64_t calls);
