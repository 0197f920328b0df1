#include "collect/processes/brief_programs.h"

#include <string.h>
#include <sys/stat.h>

/* Limits the doubling: a program that sometimes runs long is hardly ever listed again. */
#define MOST_NEEDED (1U << 20)

static struct brief_program *find(const struct brief_programs *programs, const char *path)
{
	for (size_t i = 0; i < BRIEF_PROGRAMS_MAX; i++) {
		const struct brief_program *program = &programs->at[i];

		if (program->path != NULL && strcmp(program->path, path) == 0)
			return (struct brief_program *)program;
	}
	return NULL;
}

/*
 * Reuses the places in turn, except those of listed programs: there are more places than can be
 * listed.
 */
static struct brief_program *add(struct brief_programs *programs, const char *path)
{
	struct brief_program *program;

	do {
		program = &programs->at[programs->turn++ % BRIEF_PROGRAMS_MAX];
	} while (program->is_listed);
	*program = (struct brief_program){ .path = path, .needed = BRIEF_PROGRAM_RUNS };
	return program;
}

static size_t count_listed(const struct brief_programs *programs)
{
	size_t count = 0;

	for (size_t i = 0; i < BRIEF_PROGRAMS_MAX; i++)
		count += programs->at[i].is_listed;
	return count;
}

/* Lists the file that the path leads to now; one that replaces it later is another program. */
static bool list(struct brief_program *program)
{
	struct stat status;

	if (stat(program->path, &status) < 0)
		return false;
	program->file = (struct ring_program){ status.st_dev, status.st_ino };
	program->is_listed = true;
	return true;
}

static bool unlist(struct brief_program *program)
{
	const bool was_listed = program->is_listed;

	program->is_listed = false;
	program->runs = 0;
	if (was_listed && program->needed < MOST_NEEDED)
		program->needed *= 2;
	return was_listed;
}

bool brief_programs_take(struct brief_programs *programs, const char *path, bool is_brief)
{
	struct brief_program *program = find(programs, path);

	if (!is_brief)
		return program != NULL && unlist(program);
	if (program == NULL)
		program = add(programs, path);
	if (program->is_listed || ++program->runs < program->needed ||
	    count_listed(programs) == RING_BRIEF_PROGRAMS)
		return false;
	return list(program);
}

bool brief_programs_has(const struct brief_programs *programs, const char *path)
{
	const struct brief_program *program = find(programs, path);

	return program != NULL && program->is_listed;
}

size_t brief_programs_list(const struct brief_programs *programs,
			   struct ring_program out[RING_BRIEF_PROGRAMS])
{
	size_t count = 0;

	memset(out, 0, RING_BRIEF_PROGRAMS * sizeof *out);
	for (size_t i = 0; i < BRIEF_PROGRAMS_MAX; i++) {
		if (programs->at[i].is_listed)
			out[count++] = programs->at[i].file;
	}
	return count;
}

void brief_programs_forget(struct brief_programs *programs)
{
	for (size_t i = 0; i < BRIEF_PROGRAMS_MAX; i++) {
		programs->at[i].is_listed = false;
		programs->at[i].runs = 0;
	}
}
