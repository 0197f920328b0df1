/*
 * enter - answers an agent's handshake: makes its ring, and opens the sampling events on its
 * threads.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/agents/enter_terms.h"
#include "collect/processes/pause.h"

struct handshake_request;
struct image;
struct interpreters;

/*
 * Answers the handshake of the image's agent; takes the connection.  On success the image has
 * its ring and events; otherwise it is left out, with a reason.
 */
void enter_image(struct image *image, const struct handshake_request *request, int connection,
		 const struct enter_terms *terms);

/* The terms by which a process is paused. */
struct pause_terms enter_pause_terms(const struct enter_terms *terms);

/* Answers that the agent is to leave its process alone; takes the connection. */
void enter_refuse(int connection);

/* Answers that a request is done; takes the connection. */
void enter_answer_done(int connection);

/*
 * Does what a STOP or RESUME asks, and answers; takes the connection.  image may be NULL: the
 * process is not recorded.
 */
void enter_change(struct image *image, const struct handshake_request *request, int connection,
		  const struct enter_terms *terms);
