/*
 * thread_name - what the program calls a thread, told to the recorder.
 */
#pragma once

struct mem;
struct walk;

/*
 * At the end of a walk that is whole: tells the recorder of the thread's name if Python has one
 * that the kernel does not know.  Looks ten times a second at most, since names change.
 */
void thread_name_tell(struct walk *walk, struct mem *mem);
