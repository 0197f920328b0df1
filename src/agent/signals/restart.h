/*
 * restart - a system call that a signal of the program's interrupts fails with EINTR, our trap
 * or not.
 */
#pragma once
#include <ucontext.h>

/*
 * To be called last in the handler of a trap of ours: does to the interrupted system call, if
 * there is one, what the kernel would have done if only the program's own signals had come.
 */
void restart_mend(ucontext_t *context);
