/*
 * library - finds symbols of a shared library that another process has mapped, at their addresses
 * there.
 *
 * Reads the library's file through the process's own root.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/elf_file.h"

struct error;
struct mapping;
struct maps;

struct library {
	pid_t pid;
	struct elf_file elf;
	uint64_t bias;
	uint64_t start, end; /* of the whole library */
	const struct mapping *code;
};

/*
 * Opens the first mapped file whose name begins with one of the prefixes (an array that ends with
 * NULL).  maps must outlive it.  -ENOENT, err untouched: there is none; -ENOTSUP: it cannot be
 * read.
 */
int library_open(pid_t pid, const struct maps *maps, const char *const *prefixes,
		 struct library *out_library, struct error *err);
void library_close(struct library *library);
/* A symbol's address in the process; 0: not defined. */
uint64_t library_symbol(const struct library *library, const char *name);
/* Whether the file is still the one mapped: compares the code of one function. */
bool library_is_what_is_mapped(const struct library *library, uint64_t function);
