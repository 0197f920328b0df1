/*
 * wait_place - names what a Python or Ruby thread waits for, in the program's terms, and where:
 * "Lock at app.py:12", "Queue.get at worker.py:30", "Mutex at shop.rb:7".
 *
 * The place is the innermost code outside the language's own libraries. Locks are named by it
 * and not by address: conditions and events create a lock for each wait, and addresses differ
 * in each run.
 */
#pragma once
#include <stdbool.h>

struct remote;
struct remote_stack;
struct text;

/*
 * kind: "Lock" or "RLock", which some thread holds; NULL: the thread waits to be woken, and the
 * wait is named after the library function that it is in. False, and nothing is added: there is
 * no such frame.
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
