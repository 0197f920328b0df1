/*
 * trap - the SIGTRAP handler: one sample of the thread it interrupts.  signals/signals.h has
 * the handler itself.
 */
#pragma once

/* In a child of fork: no other thread is in its handler. */
void trap_forget(void);
/* The calling thread's account begins: what was put off until now is start-up. */
void trap_begin_thread(void);
