/*
 * detail_notes - notes on how a recording was made that change nothing of what it shows: 'fathom
 * info' has them, and the first screen leaves them out.  Words that such a note has; what writes
 * one takes them from here.
 */
#pragma once

/* A process that switches often is sampled by timers. */
#define NOTE_BY_TIMERS "sampled by timers since"
/* No counter of the whole tree from then on. */
#define NOTE_NO_TREE_EVENT "no event counts the whole tree"
/* What the kernel's counters lack. */
#define NOTE_UNCOUNTED "more than the kernel's counters"
