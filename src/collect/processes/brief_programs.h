/*
 * brief_programs - which programs have been brief among the children of a process, of which
 * others last.
 *
 * A shell that compiles runs grep and sed, too.  A program is listed when its last
 * BRIEF_PROGRAM_RUNS runs in a row were brief, and no more from the first on that was not: then
 * it takes twice as many.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/ring.h"

#define BRIEF_PROGRAM_RUNS 8
/* More are not followed at a time. */
#define BRIEF_PROGRAMS_MAX 8

struct brief_program {
	const char *path; /* NULL: none */
	uint32_t runs;    /* brief ones in a row */
	uint32_t needed;  /* so many of them */
	bool is_listed;
	struct ring_program file; /* when it was listed */
};

/* Zero: none. */
struct brief_programs {
	struct brief_program at[BRIEF_PROGRAMS_MAX];
	uint32_t turn;
};

/*
 * A run of the program at path has ended, which lives as long as programs.  True: the list has
 * changed.
 */
bool brief_programs_take(struct brief_programs *programs, const char *path, bool is_brief);
/* Whether it is listed. */
bool brief_programs_has(const struct brief_programs *programs, const char *path);
/* Those that are listed, inode 0 behind them: how many. */
size_t brief_programs_list(const struct brief_programs *programs,
			   struct ring_program out[RING_BRIEF_PROGRAMS]);
/* None is listed from now on, until as many runs were brief again. */
void brief_programs_forget(struct brief_programs *programs);
