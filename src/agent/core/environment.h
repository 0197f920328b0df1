/*
 * environment - our two entries (abi/environment.h): out of the program's environment, and
 * into those of the images it executes.
 *
 * Between the constructor and an exec no entry of ours exists anywhere the program could look:
 * not in environ, not in the initial stack, not in /proc/self/environ.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"

/*
 * In the constructor, which comes before libc has made this array its environ: takes the
 * entries out of it, and keeps what they say.  No allocation, no system call but to tell
 * the kernel where the environment ends now.
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
/* The agent's file, as ld.so was told. */
const char *environment_agent_path(void);
/*
 * Whether what this process executes may be entered at all: a recorder started it, and no
 * filter is there that may kill who opens a socket, as the agent of the next image would.
 */
bool environment_may_enter(void);
/* Says hello when it has burned so much; 0: at once. */
u64 environment_late_ns(void);
/* The period after which children of this process say hello; 0: at once. */
u64 environment_late_ns_for_children(void);
/* The sampling period, which children that say hello late are given along. */
void environment_set_period(u64 period_ns);
/* Whether the program inherited SIGTRAP as ignored. */
bool environment_inherits_ignored_trap(void);

struct scratch;

/* An environment of the program's, with our entries, for as long as an exec takes. */
struct environment_copy {
	char **entries;
	struct scratch
		*scratch; /* where they are: the smallest of stacks has no place for them */
};

/*
 * The program's entries (NULL: none) and then ours.  first_libraries: what insists on being
 * loaded first, or "".  False, and nothing to be done(), where no image is to be entered: no
 * recorder started this one; theirs names a recorder, which is another; with ours it might
 * be more, together with argv, than the kernel takes; there is no room.
 *
 * Async-signal-safe; leaves nothing behind in a vfork child's parent but a scratch, of which
 * there are few, to be used again.
 */
bool environment_copy(struct environment_copy *copy, char *const *theirs, char *const *argv,
		      const char *first_libraries, bool is_trap_ignored);
void environment_copy_done(struct environment_copy *copy);
/* Whether the program's entries name a recorder. */
bool environment_names_recorder(char *const *theirs);

/* In a child of fork: what other threads were at, they are not at in here. */
void environment_forget(void);
