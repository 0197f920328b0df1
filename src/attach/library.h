/*
 * library - a shared library that another process has mapped: its symbols, at the addresses that
 * they have there.
 *
 * The file is read through the process's own root.
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
	uint64_t start, end; /* of all of it */
	const struct mapping *code;
};

/*
 * The first one mapped whose file's name begins with one of the prefixes (NULL: their end), as
 * long as maps lives; to be closed.  -ENOENT, err untouched: there is none; -ENOTSUP: it cannot be
 * read.
 */
int library_open(pid_t pid, const struct maps *maps, const char *const *prefixes,
		 struct library *out_library, struct error *err);
void library_close(struct library *library);
/* 0: it does not define that. */
uint64_t library_symbol(const struct library *library, const char *name);
/* Whether the file is still what was mapped, by the code of one of its functions. */
bool library_is_what_is_mapped(const struct library *library, uint64_t function);
