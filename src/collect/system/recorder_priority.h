/*
 * recorder_priority - the recorder among the programs that want the processor.
 *
 * A recorder that waits behind what it records reads rings too late, and samples are lost.  So
 * the thread that reads them asks for a better nice value.  What it starts meanwhile has that,
 * too: programs are started before.
 */
#pragma once

/*
 * For the calling thread.  Returns what it had, for recorder_priority_restore().  Nothing is asked for
 * where there is one processor, which would be the program's, or by one that was made nice; where
 * it may not be had nothing changes.
 */
int recorder_priority_raise(void);
void recorder_priority_restore(int before);
