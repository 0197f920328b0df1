/*
 * raw_forks - children that no handler of fork() is called in: of _Fork(), and of clone(2) by
 * hand.
 *
 * Such a child has no recorder of its own, and is not traced.
 */
#pragma once
#include <stdbool.h>

/* True if this system call, which returned 0, has forked without sharing memory. */
bool raw_fork_is_made_by(long number, const long a[6]);
