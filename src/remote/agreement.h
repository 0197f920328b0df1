/*
 * agreement - which interpreted frames of a thread that runs were there for a while.
 *
 * An interpreter's frames lie in its heap and are read while the thread goes on.  A frame that was
 * in the same call of the same caller before and after is believed; what is further in is not.
 */
#pragma once
#include <stddef.h>

struct remote_stack;

/*
 * Marks the interpreted frames of `now` as doubtful that are not in `before`, from the outermost
 * on: returns how many.  A caller that has come to another line makes all further in doubtful,
 * but is there itself.  Frames that were marked before stay so.
 */
size_t agreement_mark(const struct remote_stack *before, struct remote_stack *now);
