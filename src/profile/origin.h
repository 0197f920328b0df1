/*
 * origin - classifies code by the path of its file alone: the user's own program, an installed
 * package, the standard library of its language, the interpreter, or the system.
 *
 * No file is accessed: a recording may be from another machine.
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
	ORIGIN_FATHOM, /* fathom's own rows: [exit] */
	ORIGIN_COUNT,
};

struct origin_name {
	enum origin origin;
	const char *name; /* not terminated: points into the given path, or is static */
	size_t length;
};

/* "own", "package", "standard", … as report --json shows them. */
const char *origin_word(enum origin origin);
/*
 * For a file that Python or Ruby executes. The name is a package's: "flask" of
 * /srv/lib/python3.11/site-packages/flask/app.py, "puma" of
 * /var/lib/gems/3.1.0/gems/puma-5.6.5/lib/x.rb; in the standard library the module's: "json";
 * in own code the file's last component.
 */
struct origin_name origin_of_source(const char *path);
/*
 * For a program or library. The name is its package's, "numpy" of
 * /srv/lib/python3.11/site-packages/numpy/core/_multiarray.so, else its last component.
 */
struct origin_name origin_of_module(const char *path);
/*
 * For the source file of a function compiled into the user's program: a system header, a crate,
 * the standard library of Rust or Go. False: none of these, and *out is untouched.
 */
bool origin_of_compiled_source(const char *path, struct origin_name *out);
