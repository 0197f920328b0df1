/*
 * followed - a process whose mappings are reported as they come, to unwind copies of its stacks
 * at any moment, after its end as well.
 *
 * Code and unwind tables are read in the files that it has mapped, and the vdso in our own; of the
 * process itself only what lies in no file (code made at run time, the outer part of a stack that
 * is deeper than its copy), while it runs.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct followed;
struct remote_stack;
struct stack_copy;
struct unwind_files;

struct followed_mapping {
	uint64_t start, end, file_offset;
	const char *path; /* "[vdso]"; NULL: no file */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: not known */
};

/* files must outlive it. */
struct followed *followed_new(pid_t pid, struct unwind_files *files);
void followed_free(struct followed *followed);
/* From now on that is what is there, executable. */
void followed_map(struct followed *followed, const struct followed_mapping *mapping);
/*
 * Unwinds the copy.  What was in *stack goes.  True: the stack is deeper than its copy, so that the
 * rest was read in the process, or cut where that has gone on since.
 */
bool followed_walk(struct followed *followed, const struct stack_copy *copy,
		   struct remote_stack *stack);
