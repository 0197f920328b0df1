/*
 * restart - has a system call fail with EINTR for a signal of the program's despite our trap.
 */
#pragma once
#include <ucontext.h>

/*
 * To be called last in the handler of a trap of ours: does to the interrupted system call, if
 * there is one, what the kernel would have done if only the program's own signals had come.
 */
void restart_mend(ucontext_t *context);
