/*
 * go_runtime - finds Go code in a library of the program's, whose handlers need SA_ONSTACK.
 *
 * A goroutine has a stack of a few kilobytes, and no room for a signal's frame: Go's handlers
 * have SA_ONSTACK, and each of its threads an alternate stack that Go sets by a raw system
 * call, or one that it finds (go.dev, os/signal, "Non-Go programs that call Go code").  So the
 * flag may not be withheld from the kernel (stack_flags.h) from before Go's first goroutine runs.
 *
 * A program written in Go gets no agent at all (abi/program.h).
 */
#pragma once

/*
 * A thread is about to be created: Go's runtime creates its first in the library's constructor.
 * caller: an address in the code that creates it.
 */
void go_runtime_look(const void *caller);
