/*
 * environment_copy - the environment of an image that is about to be executed: the program's
 * entries, and behind them the two that start the agent in it (abi/environment.h).
 */
#pragma once
#include <stdbool.h>

struct next_image;
struct scratch;

/* An environment of the program's, with our entries, for as long as an exec takes. */
struct environment_copy {
	char **entries;
	struct scratch
		*scratch; /* where they are: the smallest of stacks has no place for them */
};

/*
 * The program's entries (NULL: none) and then ours.  image: what was judged.  False, and nothing
 * to be done(), where no image is to be entered: no recorder started this one; theirs names a
 * recorder, which is another; with ours it might be more, together with argv, than the kernel
 * takes; there is no room.
 *
 * Async-signal-safe; leaves nothing behind in a vfork child's parent but a scratch, of which
 * there are few, to be used again.
 */
bool environment_copy(struct environment_copy *copy, char *const *theirs, char *const *argv,
		      const struct next_image *image, bool is_trap_ignored);
void environment_copy_done(struct environment_copy *copy);
/* Whether the program's entries name a recorder. */
bool environment_names_recorder(char *const *theirs);
