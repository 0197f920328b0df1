/*
 * copies - children that no handler of fork() is called in: of _Fork(), and of clone(2) by
 * hand.
 *
 * Such a child has no recorder of its own, and is not traced.
 */
#pragma once
#include <stdbool.h>

/*
 * Whether who gets 0 from this system call is a copy of its parent; not one that shares memory.
 */
bool copies_are_made_by(long number, const long a[6]);
