/*
 * detail_notes - phrases of notes about how a recording was made that do not affect its
 * results: 'fathom info' prints such notes, and the first screen of a report leaves them out.
 * Code that writes such a note takes its phrase from here.
 */
#pragma once

/* A process that switches often is sampled by timers. */
#define NOTE_BY_TIMERS "sampled by timers since"
/* No counter covers the whole process tree any more. */
#define NOTE_NO_TREE_EVENT "no event counts the whole tree"
/* CPU time that the kernel's counters missed. */
#define NOTE_UNCOUNTED "more than the kernel's counters"
