/*
 * hello - when this process and its children say hello to a recorder, and which has come to it.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct hello {
	bool is_due; /* once late_ns of CPU time are burned: sample/late_hello.h */
	u64 late_ns;
	bool may_be_trapped;  /* the recorder may have opened events on this process */
	bool leaves_children; /* children of fork are not sampled */
	u32 attaches; /* how often a recorder came to the process while it ran: attach.c */
};
extern struct hello agent_hello;
