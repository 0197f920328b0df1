/*
 * own_handshake - when this process and its children make their handshake, and how often recorders
 * attached.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct own_handshake {
	bool is_due; /* the handshake, after delay_ns of CPU time: sample/delayed_handshake.h */
	u64 delay_ns;
	bool may_be_trapped;  /* the recorder may have opened events on this process */
	bool leaves_children; /* children of fork are not sampled */
	u32 attaches; /* how often a recorder attached to the running process: attach.c */
};
extern struct own_handshake own_handshake;
