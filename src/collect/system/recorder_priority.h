/*
 * recorder_priority - gives the recorder's thread a better nice value, and a short time slice.
 *
 * A recorder that waits for a processor which the recorded program uses reads the rings too
 * late, and samples are lost; and ticks of the wall clock that come late where another thread has
 * the processor miss what that thread holds.  Children would inherit both, so programs are started
 * before they are set.
 */
#pragma once
#include <stdbool.h>

/*
 * For the calling thread; is_prompt: with a short time slice, too, as ticks of the wall clock need
 * it.  Returns its nice value of before, for recorder_priority_restore().
 * Changes nothing on a machine with one processor, which the recorder would take from the
 * program; if the thread's nice value is positive; or without the right to do so.
 */
int recorder_priority_raise(bool is_prompt);
void recorder_priority_restore(int before);
