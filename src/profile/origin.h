/*
 * origin - where code comes from, by the path of its file alone: one's own program, a package that
 * was installed for it, the standard library of its language, the interpreter, or the system.
 *
 * No file is looked at: a recording may be from another machine.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum origin {
	ORIGIN_OWN,
	ORIGIN_PACKAGE,     /* a Python distribution or a gem */
	ORIGIN_STANDARD,    /* the standard library of Python or Ruby */
	ORIGIN_INTERPRETER, /* the program or library that runs Python or Ruby */
	ORIGIN_SYSTEM,      /* a program or library of the distribution */
	ORIGIN_KERNEL,
	ORIGIN_FATHOM, /* rows of ours: [exit] */
	ORIGIN_COUNT,
};

struct origin_name {
	enum origin origin;
	const char *name; /* not terminated: of the path that was given, or static */
	size_t length;
};

/* "own", "package", "standard", … as report --json has them. */
const char *origin_word(enum origin origin);
/*
 * Of a file that Python or Ruby executes.  The name is a package's: "flask" of
 * /srv/lib/python3.11/site-packages/flask/app.py, "puma" of /var/lib/gems/3.1.0/gems/puma-5.6.5/lib/x.rb;
 * of the standard library the module's: "json"; of one's own the file's last component.
 */
struct origin_name origin_of_source(const char *path);
/*
 * Of a program or library.  The name is its package's, "numpy" of
 * /srv/lib/python3.11/site-packages/numpy/core/_multiarray.so, else its last component.
 */
struct origin_name origin_of_module(const char *path);
/*
 * Of the source of a function that was compiled into one's own program: a header of the system's, a
 * crate, the standard library of Rust or Go.  False: none of these, *out is untouched.
 */
bool origin_of_compiled_source(const char *path, struct origin_name *out);
