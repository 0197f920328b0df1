/*
 * wait_place - what a thread of Python or Ruby waits for, in the words of its program, and where: "Lock
 * at app.py:12", "Queue.get at worker.py:30", "Mutex at shop.rb:7".
 *
 * The place is where code that is no part of the language waits.  Locks go by it and not by their
 * addresses: conditions and events make one for each wait, and a program another one in each run.
 */
#pragma once
#include <stdbool.h>

struct remote;
struct remote_stack;
struct text;

/*
 * kind: "Lock" or "RLock", which some thread holds; NULL: the thread waits to be woken, and is called
 * by the function of the library that it waits in.  False, and nothing is added: it has no such
 * frame.
 */
bool wait_place_add_python(struct remote *remote, const struct remote_stack *stack,
			   const char *kind, struct text *out);
/* what: a method, or the class of a lock. */
void wait_place_add_ruby(const struct remote_stack *stack, const char *what, struct text *out);
/*
 * Whether the thread is in threading.Condition.wait(), by which conditions, events and queues wait
 * to be notified.
 */
bool wait_place_is_condition(const struct remote_stack *stack);
