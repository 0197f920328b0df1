/*
 * go_runtime - Go code in a library of the program's.
 *
 * A goroutine has a stack of a few kilobytes, and no room for a signal's frame: Go's handlers
 * have SA_ONSTACK, and each of its threads an alternate stack that Go sets by a raw system
 * call, or one that it finds (go.dev, os/signal, "Non-Go programs that call Go code").  So the
 * flag may not be withheld from the kernel (stack_flags.h), and that is known before Go's
 * first goroutine runs.
 *
 * A program that is Go's own is not entered at all (abi/program.h).
 */
#pragma once

/*
 * A thread is about to begin: Go's runtime starts its first from the library's constructor.
 * caller is an address in the code that wants it.
 */
void go_runtime_look(const void *caller);
