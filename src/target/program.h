/*
 * program - what the kernel will run when a path is executed.
 *
 * Follows "#!" lines as fs/binfmt_script.c does and says which ELF file is at their end.
 * Does not search PATH, does not know binfmt_misc, and starts nothing.
 */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "elf_header.h"

struct error;

struct target_program {
	char path[PATH_MAX];    /* the ELF file: the program itself, or the last interpreter */
	unsigned script_levels; /* "#!" lines followed; 0: the program is an ELF file */
	struct elf_header elf;
	/* Set-uid, set-gid or with file capabilities: the loader ignores LD_PRELOAD. */
	bool is_privileged;
};

/*
 * Errors: -ENOENT, -EACCES (not executable), -ENOEXEC (neither ELF nor "#!"; execvp(3) would
 * give it to a shell), -ELOOP (more than five interpreters of interpreters), and others of
 * open(2); the sentence names the interpreter if it is at fault.
 */
int target_program_inspect(const char *path, struct target_program *out_program,
			   struct error *err);
