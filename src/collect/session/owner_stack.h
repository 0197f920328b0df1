/* session_owner_stack - where the owner of what others wait for waits itself. */
#pragma once
#include <stdint.h>

struct image;
struct session;

/*
 * The stack in which this thread (its row of the recording) of the image's process waits; 0: it
 * runs, or cannot be read.  It is read if it was not yet.
 */
uint32_t session_owner_stack(struct session *session, struct image *image, uint32_t owner,
			     uint64_t now_ns);
