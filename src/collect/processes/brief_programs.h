/*
 * brief_programs - finds the programs that always run briefly among a process's children, where
 * other children run long.
 *
 * A shell script that compiles also runs grep and sed.  A program is listed after
 * BRIEF_PROGRAM_RUNS brief runs in a row.  The first run that is not brief removes it; each
 * time that happens it then needs twice as many.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/ring.h"

#define BRIEF_PROGRAM_RUNS 8
/* Programs that are followed at a time. */
#define BRIEF_PROGRAMS_MAX 8

struct brief_program {
	const char *path; /* NULL: none */
	uint32_t runs;    /* brief ones in a row */
	uint32_t needed;  /* to be listed */
	bool is_listed;
	struct ring_program file; /* at path, when it was listed */
};

/* Zero-initialized: none. */
struct brief_programs {
	struct brief_program at[BRIEF_PROGRAMS_MAX];
	uint32_t turn;
};

/*
 * A run of the program at path has ended.  The string must live as long as programs.  True: the
 * list has changed.
 */
bool brief_programs_take(struct brief_programs *programs, const char *path, bool is_brief);
/* Whether the program at path is listed. */
bool brief_programs_has(const struct brief_programs *programs, const char *path);
/* Stores the listed programs, inode 0 in unused places; returns their number. */
size_t brief_programs_list(const struct brief_programs *programs,
			   struct ring_program out[RING_BRIEF_PROGRAMS]);
/* Empties the list; programs need as many brief runs again. */
void brief_programs_forget(struct brief_programs *programs);
