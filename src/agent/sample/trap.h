/*
 * trap - the SIGTRAP handler, which takes a sample of the thread it interrupts.  signals/signals.h
 * declares the handler itself.
 */
#pragma once

/* In a child of fork, where no other thread is in its handler: frees their memory for walks. */
void trap_forget(void);
/* The calling thread's account begins: traps that were put off until now are start-up. */
void trap_begin_thread(void);
