/*
 * plumbing - recognises an interpreter's own files, and its own functions in other files.
 *
 * By their names alone: what is not recognised is taken for the program's, and shown.
 */
#pragma once
#include <stdbool.h>

#include "profile/profile.h"

enum plumbing_kind {
	PLUMBING_NONE,
	PLUMBING_INTERPRETER, /* python3.12, libruby-3.1.so.3.1.2 */
	PLUMBING_STANDARD,    /* an extension module of the standard library */
	PLUMBING_LIBC,        /* starts programs and threads, an interpreter's or others' */
};

struct plumbing_file {
	enum plumbing_kind kind;
	enum language language; /* of the first two kinds */
};

struct plumbing_file plumbing_of_file(const char *path);
/* Whether a file that is known to have an interpreter in it has its name, too. */
bool plumbing_is_named_after(enum language language, const char *path);
/* Whether the interpreter reserves such names for itself, in programs that embed it. */
bool plumbing_is_own_name(enum language language, const char *name);
