/*
 * permits - what a seccomp filter, or the program itself, may have forbidden to this process: seccomp.c
 * says so before it is asked for.
 */
#pragma once
#include <stdbool.h>

struct permits {
	bool may_call;         /* system calls, by handlers */
	bool may_copy;         /* process_vm_readv() and the like */
	bool may_read_counter; /* the machine's counter: without it no clock can be read, either */
};
extern struct permits permits;
