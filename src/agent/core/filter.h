/*
 * filter - what a seccomp filter of the program's will say to a system call.
 */
#pragma once
#include <stdbool.h>

struct sock_fprog;

/*
 * Whether the call may be made under the filter, whatever its arguments are (of mmap(): new memory
 * that can be written).  True for one that cannot be read: the kernel will not take it, either.
 */
bool filter_allows(const struct sock_fprog *filter, long number);
