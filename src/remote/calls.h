/* calls - the system calls that threads wait in: their names, and what their arguments mean. */
#pragma once
#include <stdint.h>

#include "abi/wait_state.h"

enum call_on {
	CALL_ON_NOTHING,
	CALL_ON_DESCRIPTOR, /* in one argument */
	CALL_ON_EPOLL,
	CALL_ON_POLL,   /* an array of struct pollfd, and how many */
	CALL_ON_SELECT, /* how many, and three sets */
	CALL_ON_TIME,   /* a struct timespec in one argument */
	CALL_ON_FUTEX,
	CALL_ON_PROCESS, /* a number in one argument */
	CALL_ON_ADDRESS, /* a struct sockaddr in one argument, its size in the next */
	CALL_ON_PATH,    /* a file's name in one argument */
	CALL_ON_SPLICE,  /* descriptors to read from and, two arguments later, to write to */
};

struct call {
	int64_t number;
	const char *name;
	uint8_t on;       /* enum call_on */
	uint8_t argument; /* which one */
	uint8_t state; /* enum wait_state of a thread that waits in it, unless more is known */
};

/* NULL: not in the table. */
const struct call *call_find(int64_t number);
