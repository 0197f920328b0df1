/*
 * raw_forks - children made without running pthread_atfork() handlers: by _Fork(), or clone(2).
 *
 * Such a child makes no handshake, and its calls are not traced (the step abandon, mechanism.h).
 */
#pragma once
#include <stdbool.h>

/* True if this system call, which returned 0, has forked without sharing memory. */
bool raw_fork_is_made_by(long number, const long a[6]);
