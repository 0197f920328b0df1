/*
 * title - which of several processes of one program it is: its arguments, or what it wrote
 * over them.
 *
 * /proc/<pid>/cmdline has the memory where exec put a program's arguments.  Servers write there
 * what a process does (setproctitle: "postgres: alice db [local] SELECT"), so it is read again
 * while the process is sampled.  The recorder reads it, when no program waits for it.  What it
 * holds is the program's to choose: it is bounded here, and without control characters.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The longest title in bytes, and with its NUL. */
#define TITLE_MAX  120
#define TITLE_SIZE (TITLE_MAX + 1)

/*
 * The title of the len bytes of a cmdline: the arguments with spaces between them, the first
 * without its folder.  Where they are too many, those that say most are left: operands, then
 * options' values that look like a file's name; "…" is for what was left out.  "" of none.
 */
void title_make(const char *bytes, size_t len, char out_title[TITLE_SIZE]);

/* Of a process; zero: it was not read so far.  text is the owner's to free(). */
struct title {
	char *text;       /* NULL: not known */
	uint64_t read_ns; /* when it was (CLOCK_MONOTONIC) */
	uint64_t due_ns;  /* not before */
	uint64_t wait_ns;
	uint64_t mark;   /* the caller's when it was read last */
	bool is_settled; /* it was read since the process was busy last */
};

/*
 * Whether it is due, where mark grows while the process is busy: at growing intervals while it
 * does, and once more when it does no longer, as a server sets its title and then waits.
 */
bool title_is_due(const struct title *title, uint64_t mark, uint64_t now_ns);
/*
 * Reads it, if it is due.  True if it is another title than before; the caller writes the image.
 */
bool title_look(struct title *title, pid_t pid, uint64_t mark, uint64_t now_ns);
/* Reads it if there is none so far.  The same. */
bool title_look_first(struct title *title, pid_t pid, uint64_t now_ns);
/*
 * The process has executed another program, as is known only now: what was read since is
 * that one's title, which is moved.
 */
void title_take_exec(struct title *title, uint64_t exec_ns, struct title *out_next);
