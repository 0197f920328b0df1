/*
 * go_runtime - Go code in a library of the program's.
 *
 * A goroutine has a stack of a few kilobytes, and no room for a signal's frame: Go wants every
 * handler on the alternate stack, of which it gives each of its threads one of 32 KiB, and sets
 * SA_ONSTACK in the handlers that it finds (go.dev, os/signal, "Non-Go programs that call
 * Go code").  It does not find ours, so we do it, before Go's first goroutine runs.
 *
 * A program that is Go's own is not entered at all (abi/program.h).
 */
#pragma once

/*
 * A thread is about to begin: Go's runtime starts its first from the library's constructor.
 * caller is an address in the code that wants it.
 */
void go_runtime_look(const void *caller);
