/*
 * filter - evaluates a seccomp filter of the program's: whether it will allow a system call.
 */
#pragma once
#include <stdbool.h>

struct sock_fprog;

/*
 * Whether the filter allows the call whatever its arguments are (mmap(): for new writable memory).
 * True for a filter that cannot be read: the kernel will not accept it, either.
 */
bool filter_allows(const struct sock_fprog *filter, long number);
