/*
 * environment - takes the agent's two hidden entries (abi/environment.h) out of the program's
 * environment, and has them ready for the programs that it executes.
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
 * In the constructor, before libc makes this array its environ: takes the entries out of it, and
 * keeps their values.  No allocation; no system calls but those that move the environment's end in
 * the kernel (environment_end.h).
 */
void environment_take(char **environment);

/* The path of the recorder's socket; NULL if no recorder started this image. */
const char *environment_socket(void);
/*
 * Whether this process, or one that it was forked from, has found that the recorder has ended or
 * cannot be reached.  Then no further connection is tried.
 */
bool environment_recorder_is_gone(void);
/* Another recorder has attached to the running process; the string is not copied. */
void environment_adopt(const char *socket);
void environment_note_recorder_gone(void);
/* The path of the agent's file, as LD_PRELOAD had it. */
const char *environment_agent_path(void);
/*
 * Whether a program that this process executes may be given an agent: a recorder started this
 * process, and no seccomp filter may kill for opening a socket, as the next image's agent would.
 */
bool environment_may_enter(void);
/* After how much CPU time this image makes its handshake; 0: at once. */
u64 environment_delay_ns(void);
/* After how much CPU time children of this process make theirs; 0: at once. */
u64 environment_delay_of_children_ns(void);
/* Whether children that execute this file (stat(2)) delay theirs, having been brief so far. */
bool environment_program_is_brief(u64 device, u64 inode);
/* Sets the sampling period, which children with a delayed handshake get in their environment. */
void environment_set_period(u64 period_ns);
/* Whether the program inherited SIGTRAP as ignored. */
bool environment_inherits_ignored_trap(void);

/* The entries for an image to be executed; they are valid as long as this process lives. */
struct environment_entries {
	char *recorder; /* "FATHOM_RECORDER=..." */
	char *preload;  /* "LD_PRELOAD=<agent>", of a program that preloads nothing itself */
};
/* The most bytes that the first of them has. */
#define ENVIRONMENT_RECORDER_BYTES                                                             \
	(sizeof ENVIRONMENT_RECORDER + sizeof ENVIRONMENT_IGNORED + ENVIRONMENT_DELAY_DIGITS + \
	 PATH_MAX + sizeof((struct sockaddr_un *)0)->sun_path)
/* is_brief: the image delays its handshake, at least.  False: no recorder started us. */
bool environment_entries(bool is_trap_ignored, bool is_brief,
			 struct environment_entries *out_entries);
