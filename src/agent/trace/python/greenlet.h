/*
 * greenlet - one stack of calls for each greenlet.
 *
 * Greenlets are coroutines that an extension module switches in C (gevent and eventlet are
 * made of them): a call of greenlet.switch() returns when it has been switched back to, and what
 * was called meanwhile was called on other stacks.  The interpreter's hooks do not show it.
 *
 * Each switch is a call of one of four functions: two methods of the type, which is in its
 * PyMethodDefs, and two that other extensions call by way of a table (greenlet.h, "C API"), in
 * all versions of greenlet since 0.4.  Ours replace them.  The caller of a switch leaves
 * its stack of calls behind, in its own frame of the C stack, which goes and comes with the
 * greenlet; and takes it up again when the call returns.  What begins meanwhile begins on an
 * empty one.
 *
 * So a greenlet's calls stand below the thread's root, and not below the switch that began it.
 * Nothing is looked at in other events.  A greenlet that is killed because nothing refers
 * to it any more ends on the stack that let it go.
 */
#pragma once

/*
 * When something is called for the first time: whether greenlets have come.  With the GIL, and
 * no exception set.
 */
void trace_greenlet_look(void);
/* In a child of fork: no other thread is at what threads share. */
void trace_greenlet_forget_others(void);
