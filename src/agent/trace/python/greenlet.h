/*
 * greenlet - gives each greenlet a call stack of its own.
 *
 * Greenlets are coroutines that an extension module switches in C (gevent and eventlet are built
 * on them): a call of greenlet.switch() returns when the greenlet is switched back to, and calls
 * made meanwhile belong to other stacks.  The interpreter's events do not show this.
 *
 * Each switch is a call of one of four functions: two methods of the type, in its PyMethodDefs,
 * and two that other extensions call through a table (greenlet.h, "C API"), in all versions of
 * greenlet since 0.4.  Ours replace them.  Before a switch, ours saves the thread's call stack in
 * its own frame on the C stack, which is switched away and back with the greenlet, and restores
 * it when the call returns.  Calls that begin meanwhile go to an empty call stack.
 *
 * So a greenlet's calls are below the thread's root, not below the switch that started it.  Other
 * events cost nothing more.  A greenlet that is killed because nothing refers to it any more ends
 * on the stack that dropped it.
 */
#pragma once

/*
 * Called when a callee is called for the first time: sets this up once greenlet has been
 * imported.  With the GIL, and no exception set.
 */
void trace_greenlet_look(void);
/* In a child of fork: no other thread uses the free stacks. */
void trace_greenlet_forget_others(void);
