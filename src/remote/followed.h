/*
 * followed - a process whose mappings are reported as they change, so that copies of its stacks
 * can be unwound at any moment, even after it has ended.
 *
 * Code and unwind tables are read from the mapped files, the vdso from our own process. The
 * process's memory is read, while it runs, only for what is in no file: code made at run time,
 * and the outer part of a stack that is deeper than its copy.
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
/* Reports a new executable mapping: from now on it replaces what was at its addresses. */
void followed_map(struct followed *followed, const struct followed_mapping *mapping);
/*
 * Unwinds the copy into *stack, which is cleared first. True: the stack is deeper than its
 * copy; the outer part was read from the process, or cut where the process has changed it
 * since.
 */
bool followed_walk(struct followed *followed, const struct stack_copy *copy,
		   struct remote_stack *stack);
