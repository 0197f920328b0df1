/*
 * environment_copy - makes the environment of a program that is about to be executed: the entries
 * that it is given, and behind them the two that start the agent in it (abi/environment.h).
 */
#pragma once
#include <stdbool.h>

struct next_image;
struct scratch;

/* An environment of the program's, with our entries, for as long as an exec takes. */
struct environment_copy {
	char **entries;
	struct scratch *scratch; /* their memory: the smallest of stacks has no room for them */
};

/*
 * Copies the program's entries (NULL: none) and adds ours.  image: by next_image_judge().
 * False, and nothing is to be done(), where the image is to get no agent: no recorder started
 * this process; theirs name another recorder, or have ld.so list libraries (ldd); entries or
 * argv cannot be read; with ours they might be larger, together with argv, than the kernel
 * takes; or there is no memory.
 *
 * Async-signal-safe; a vfork child leaves nothing behind in its parent but one of the few
 * scratches, which is used again.
 */
bool environment_copy(struct environment_copy *copy, char *const *theirs, char *const *argv,
		      const struct next_image *image, bool is_trap_ignored);
void environment_copy_done(struct environment_copy *copy);
/* Whether the program's entries name a recorder. */
bool environment_names_recorder(char *const *theirs);
