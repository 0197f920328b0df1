/*
 * rows - the frames of a snapshot with names, to be printed.
 *
 * Native addresses get functions, files and lines, and inlined calls get rows of their own. The
 * interpreters' own frames are marked, so that they can be left out.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct notes;
struct remote;
struct snapshot;
struct stack_frame;

enum dump_language { DUMP_NATIVE, DUMP_PYTHON, DUMP_RUBY };

/* Strings live as long as the struct dump and its remote. */
struct dump_row {
	enum dump_language language;
	const char *name;   /* never NULL */
	const char *file;   /* that is being executed; NULL: unknown */
	uint32_t line;      /* 0: unknown */
	const char *module; /* native: the file's path; NULL: none, or interpreted */
	uint64_t address;   /* native */
	bool is_inlined, is_guess;
	bool is_plumbing; /* of an interpreter itself, or of fathom's agent */
	const struct stack_frame *frame;
};

struct dump_thread {
	struct dump_row *rows; /* innermost first */
	size_t count, capacity;
	bool is_interpreted; /* it has frames of an interpreted language */
	/* It is blocked in CPython's lock function: threading.Lock, and types based on it. */
	bool waits_for_python_lock;
};

struct dump {
	const struct remote *remote;
	const struct snapshot *snapshot;
	struct dump_thread *threads; /* as many as in the snapshot */
	struct symbolizer *symbolizer;
	struct symbol_module **modules; /* for each image of the remote */
};

/*
 * Names all frames. remote and snapshot must outlive the dump. notes may be NULL.
 * has_all_lines: also reads lines in debug files installed by packages, of which libc's alone
 * takes 50 ms to unpack.
 */
void dump_name(const struct remote *remote, const struct snapshot *snapshot, bool has_all_lines,
	       struct notes *notes, struct dump *out_dump);
void dump_done(struct dump *dump);
