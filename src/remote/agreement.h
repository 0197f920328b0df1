/*
 * agreement - which interpreted frames of a running thread two reads agree on.
 *
 * An interpreter's frames lie in its heap and are read while the thread goes on. A frame is
 * believed if two reads, one after the other, found it in the same call of the same caller;
 * frames further in are not.
 */
#pragma once
#include <stddef.h>

struct remote_stack;

/*
 * Marks as doubtful the interpreted frames of `now` that are not in `before`, beginning with
 * the outermost; returns their number. If a caller is at another line, all frames further in
 * are doubtful, but the caller is not. Frames that were marked before stay marked.
 */
size_t agreement_mark(const struct remote_stack *before, struct remote_stack *now);
