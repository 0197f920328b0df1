/*
 * environment - our two entries (abi/environment.h): out of the program's environment, and
 * into those of the images it executes.
 *
 * Between the constructor and an exec no entry of ours exists anywhere the program could look:
 * not in environ, not in the initial stack, not in /proc/self/environ.
 */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "abi/environment.h"
#include "abi/types.h"

/*
 * In the constructor, which comes before libc has made this array its environ: takes the
 * entries out of it, and keeps what they say.  No allocation, no system call but one by
 * which the kernel knows where the environment ends now.
 */
void environment_take(char **environment);

/* Where the recorder listens; NULL if none started this image. */
const char *environment_socket(void);
/*
 * Whether the recorder has ended, or cannot be reached from here, as far as this image or one that
 * it was forked from has found out.  It is not asked again.
 */
bool environment_recorder_is_gone(void);
/* Another recorder has come to this process while it runs; the text stays where it is. */
void environment_adopt(const char *socket);
void environment_note_recorder_gone(void);
/* The agent's file, as ld.so was given it. */
const char *environment_agent_path(void);
/*
 * Whether what this process executes may be entered at all: a recorder started it, and no
 * filter is there that may kill what opens a socket, as the agent of the next image would.
 */
bool environment_may_enter(void);
/* Says hello when it has burned so much; 0: at once. */
u64 environment_late_ns(void);
/* The period after which children of this process say hello; 0: at once. */
u64 environment_late_ns_for_children(void);
/* Whether children that execute this file (stat(2)) do so: programs that were brief so far. */
bool environment_program_is_brief(u64 device, u64 inode);
/* The sampling period, which children that say hello late are given along. */
void environment_set_period(u64 period_ns);
/* Whether the program inherited SIGTRAP as ignored. */
bool environment_inherits_ignored_trap(void);

/* What an image that is executed gets, each as long as this process lives. */
struct environment_entries {
	char *recorder; /* "FATHOM_RECORDER=..." */
	char *preload;  /* "LD_PRELOAD=<agent>", of a program that preloads nothing itself */
};
/* At most this many bytes the first of them has. */
#define ENVIRONMENT_RECORDER_BYTES                                                            \
	(sizeof ENVIRONMENT_RECORDER + sizeof ENVIRONMENT_IGNORED + ENVIRONMENT_LATE_DIGITS + \
	 PATH_MAX + sizeof((struct sockaddr_un *)0)->sun_path)
/*
 * is_brief: it says hello late, whatever others do.  False: no recorder started this image.
 */
bool environment_entries(bool is_trap_ignored, bool is_brief,
			 struct environment_entries *out_entries);
