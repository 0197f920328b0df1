#include "collect/session/agent.h"

#include <errno.h>
#include <poll.h>

#include "attach/attach.h"
#include "base/error.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/agents/handshake_server.h"
#include "collect/processes/image.h"
#include "collect/processes/interpreters.h"
#include "collect/session/options.h"
#include "collect/session/state.h"

/* For a busy machine; the agent itself waits for a second. */
#define PATIENCE_NS (5000 * NS_PER_MS)
#define LOOK_MS     1

bool session_agent_is_wanted(struct session *session, struct image *image)
{
	const enum trigger_kind trigger = session->options->trigger;

	return trigger == TRIGGER_SIGTRAP ||
	       (trigger == TRIGGER_AUTO && session->ability.can_sigtrap &&
		interpreters_are_in(&session->interpreters, image));
}

/* Uses the connection that the injection made: its agent may not reach the socket's path. */
static int hear_agent(struct session *session, const struct image *image,
		      const struct attach *attach, struct error *err)
{
	const int connection = attach_take_connection(attach);

	if (connection < 0)
		return error_errno(err, connection, "its agent cannot reach the recorder");
	handshake_server_add(session->server, image->pid, connection);
	return 0;
}

/* Answers the agent's handshake like any other, and waits until its thread has ended. */
static int wait_for_agent(struct session *session, struct attach *attach, struct error *err)
{
	const uint64_t until_ns = monotonic_ns() + PATIENCE_NS;
	struct pollfd requests = { .fd = handshake_server_fd(session->server),
				   .events = POLLIN };
	int rc = 0;

	while (rc == 0) {
		if (poll(&requests, 1, LOOK_MS) > 0)
			session_take_requests(session);
		rc = attach_look(attach, err);
		if (rc == 0 && monotonic_ns() > until_ns)
			return error_set(err, -ENOTSUP, "its agent does not end in time");
	}
	return rc < 0 ? rc : 0;
}

/*
 * Notes threads that are not sampled since they block SIGTRAP: the program would see the trap.
 */
static void note_blocking(struct session *session, const struct image *image)
{
	if (image->blocking > 0)
		notes_add(session->notes,
			  "%s (pid %d): %u of its threads, %d the first, block SIGTRAP and are "
			  "not "
			  "sampled; '--trigger copied' samples their native frames",
			  image->name, (int)image->pid, image->blocking,
			  (int)image->first_blocking);
}

void session_agent_expect(const struct session *session, struct image *image)
{
	image->is_attached = true;
	image->epoch_base = session->start_ns << 8;
}

/* The image may have ended, and been freed, while handshakes were answered. */
static bool is_there(const struct session *session, pid_t pid, uint32_t serial)
{
	const struct image *image = tree_find(&session->tree, pid);

	return image != NULL && image->serial == serial;
}

int session_agent_begin(struct session *session, struct image *image, struct error *err)
{
	const pid_t pid = image->pid;
	const uint32_t serial = image->serial;
	const struct attach_options options = {
		.pid = pid,
		.agent_path = session->options->agent_path,
		.socket_path = handshake_server_path(session->server),
		.follows_children = session->options->with_children,
	};
	struct attach *attach = NULL;

	session_agent_expect(session, image);
	int rc = attach_begin(&options, &attach, err);

	if (rc == 0)
		rc = hear_agent(session, image, attach, err);
	if (rc == 0)
		rc = wait_for_agent(session, attach, err);
	attach_end(attach);
	if (!is_there(session, pid, serial))
		return error_set(err, -ESRCH, "it has ended");
	/* Its handshake came, and was refused. */
	if (rc != -EBUSY && image->ring == NULL && image->unentered_reason != NULL)
		rc = error_set(err, -ENOTSUP, "%s", image->unentered_reason);
	else if (rc == 0 && image->ring == NULL)
		rc = error_set(err, -ENOTSUP, "its agent cannot reach the recorder");
	image->is_attached = rc == 0;
	if (rc == 0)
		note_blocking(session, image);
	return rc;
}

void session_agent_end(struct image *image)
{
	const struct attach_options options = { .pid = image->pid, .is_leaving = true };
	struct attach *attach = NULL;
	struct error err;
	const uint64_t until_ns = monotonic_ns() + PATIENCE_NS;

	image_stop_sampling(image);
	/* If the process cannot be reached now, the next attach cleans up. */
	if (attach_begin(&options, &attach, &err) < 0)
		return;
	while (attach_look(attach, &err) == 0 && monotonic_ns() < until_ns)
		poll(NULL, 0, LOOK_MS);
	attach_end(attach);
}
