/*
 * title - a short command line that distinguishes processes of one program: their arguments, or
 * what they wrote over them.
 *
 * /proc/<pid>/cmdline shows the memory where exec put a program's arguments.  Servers overwrite
 * it with what a process does (setproctitle: "postgres: alice db [local] SELECT"), so it is
 * read again while the process is sampled, by the recorder, when no program waits for it.  The
 * program can write anything there: the length is limited here, and control characters are
 * removed.
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
 * Makes the title from the len bytes of a cmdline: the arguments with spaces between them, the
 * first without its folder.  If they are too many, the most distinctive are kept: operands,
 * then values of options that look like a file's name; "…" replaces the others.  "" if there
 * are none.
 */
void title_make(const char *bytes, size_t len, char out_title[TITLE_SIZE]);

/* A process's title.  Zero-initialized: not read so far.  text is the owner's to free(). */
struct title {
	char *text;       /* NULL: not known */
	uint64_t read_ns; /* when it was read (CLOCK_MONOTONIC) */
	uint64_t due_ns;  /* not read again before */
	uint64_t wait_ns;
	uint64_t mark;   /* the caller's, at the last reading */
	bool is_settled; /* it was read after the process had become idle */
};

/*
 * Whether to read it again.  mark grows while the process is busy: it is read at growing
 * intervals while mark changes, and once more afterwards, since a server sets its title and
 * then waits.
 */
bool title_is_due(const struct title *title, uint64_t mark, uint64_t now_ns);
/* Reads the title, if due.  True if it has changed: then the caller writes the image. */
bool title_look(struct title *title, pid_t pid, uint64_t mark, uint64_t now_ns);
/* Reads the title if there is none so far.  Returns the same. */
bool title_look_first(struct title *title, pid_t pid, uint64_t now_ns);
/*
 * The process executed another program at exec_ns, which is known only now: a title that was
 * read since then is the new program's, and is moved to *out_next.
 */
void title_take_exec(struct title *title, uint64_t exec_ns, struct title *out_next);
