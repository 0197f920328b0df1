/*
 * requests - answers agents' requests: to be sampled, to be paused, to have newly loaded
 * interpreters looked at.
 */
#include "collect/session/state.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "collect/agents/handshake_server.h"
#include "collect/processes/image.h"
#include "collect/system/process_stat.h"
#include "collect/session/agent.h"
#include "collect/session/options.h"
#include "collect/session/facts.h"
#include "collect/processes/mappings.h"
#include "collect/processes/storms.h"
#include "collect/agents/unentered.h"
#include "record/writer.h"

/* Requests that are answered in a row before rings are read again. */
#define MAX_REQUESTS 64

/* The image of a handshake, or NULL; where no sideband reports processes, it is made here. */
static struct image *session_image_of(struct session *session,
				      const struct handshake_request *request, pid_t pid)
{
	struct tree *tree = &session->tree;
	struct image *image = tree_find(tree, pid);
	const bool is_new = image == NULL || ((!tree->has_sideband || image->lacks_sideband) &&
					      image->ring != NULL);

	if (!is_new)
		return image;
	/* The agent gave up waiting, and its process has ended since. */
	if (!process_is_alive(pid))
		return NULL;
	uint64_t burned_ns = 0;

	/* CPU time of the image that an exec ends here. */
	tree->last_ended_cpu_ns = &burned_ns;
	image = tree_add(tree, pid, tree_find_parent(tree, pid), request->time_ns);
	tree->last_ended_cpu_ns = NULL;
	image->cpu_before_ns = burned_ns;
	tree_read_maps(tree, image, request->time_ns);
	return image;
}

/*
 * Where a program gained capabilities by exec, the kernel has taken away the events that report
 * what it maps (session/notes.c): its agent does so instead.
 */
static void session_find_mappings(struct session *session, struct image *image,
				  const struct handshake_request *request)
{
	if (!session->tree.has_sideband ||
	    (image->mappings != NULL && mappings_at(image->mappings, 0) != NULL))
		return;
	image->lacks_sideband = true;
	tree_read_maps(&session->tree, image, request->time_ns);
}

/* Whether the agent gave up waiting; otherwise its process was killed while it waited. */
static bool has_given_up(const struct session *session, const struct handshake_request *request)
{
	const uint64_t patience_ms =
		session->options->is_trace ? HANDSHAKE_TRACE_TIMEOUT_MS : HANDSHAKE_TIMEOUT_MS;

	return monotonic_ns() - request->time_ns >= patience_ms * 1000000;
}

static uid_t peer_uid(int connection)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return (uid_t)-1;
	return peer.uid;
}

static void session_enter(struct session *session, const struct handshake_request *request,
			  pid_t pid, int connection)
{
	struct image *image = session_image_of(session, request, pid);
	const bool is_trace = session->options->is_trace;

	if (image == NULL && has_given_up(session, request))
		session_facts_note_left_out(session->writer, request, pid, is_trace,
					    HANDSHAKE_SERVER_TOO_LATE);
	if (session->is_broken || image == NULL || image->ring != NULL) {
		close(connection);
		return;
	}
	image->uid = peer_uid(connection);
	/*
	 * Without a command no agent is preloaded: it is a forked child of an attached process.
	 */
	if (session->options->argv == NULL)
		session_agent_expect(session, image);
	session_copied_leave(image);
	session_find_mappings(session, image, request);
	/*
	 * Not all processes in this storm are brief, or this one is about to create a thread.
	 */
	if (!storms_is_of_programs(session->storms, image->in_storm))
		session_end_storm(session, image->in_storm);
	enter_image(image, request, connection, &session->enter_terms);
	tree_read_process(&session->tree, image);
	/* A trace has no account that would show the reason. */
	if (is_trace && image->state == IMAGE_LEFT_OUT && !session->options->no_children &&
	    (has_given_up(session, request) || process_is_alive(pid)))
		session_facts_note_left_out(session->writer, request, pid, is_trace,
					    image->unentered_reason);
	if (image->state == IMAGE_LEFT_OUT)
		unentered_look(&session->tree, image, &session->enter_terms);
}

static void session_change(struct session *session, const struct handshake_request *request,
			   pid_t pid, int connection)
{
	struct image *image =
		tree_find(&session->tree, request->target != 0 ? (pid_t)request->target : pid);

	if (image != NULL)
		image->next_is_recorded = request->occasion == HANDSHAKE_STOP &&
					  request->reason == HANDSHAKE_EXEC_RECORDED;
	if (request->occasion == HANDSHAKE_STOP && handshake_is_exec(request->reason))
		unentered_expect(&session->tree, image, &session->enter_terms);
	if (image != NULL && request->occasion == HANDSHAKE_STOP &&
	    request->reason == HANDSHAKE_EXEC)
		session_copied_expect(session, image);
	enter_change(image, request, connection, &session->enter_terms);
}

/*
 * The agent waits for the layouts of interpreters in newly loaded libraries, which the sideband
 * has reported by now.
 */
static void session_look(struct session *session, const struct handshake_request *request,
			 pid_t pid, int connection)
{
	struct image *image = tree_find(&session->tree, pid);

	if (image != NULL && image->state == IMAGE_ENTERED) {
		if (session->sideband == NULL || image->lacks_sideband)
			tree_read_maps(&session->tree, image, request->time_ns);
		interpreters_look(&session->interpreters, image);
	}
	enter_answer_done(connection);
}

/*
 * Another user's process must be in the tree, or, without a sideband that reports it, its
 * parent must be: others do not belong to this session and are turned away.
 */
static bool session_may_hear(const struct session *session, const struct handshake_peer *peer)
{
	return !peer->is_foreign || tree_find(&session->tree, peer->pid) != NULL ||
	       (!session->tree.has_sideband &&
		tree_find_parent(&session->tree, peer->pid) != NULL);
}

/* Reads the titles of programs that have begun, when no other agent waits for an answer. */
static void session_look_at_titles(struct session *session, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct image *image = tree_find(&session->tree, pids[i]);

		if (image != NULL &&
		    title_look_first(&image->title, image->pid, monotonic_ns()))
			image_write(image, session->start_ns, session->writer);
	}
}

void session_take_requests(struct session *session)
{
	struct handshake_request request;
	struct handshake_peer peer;
	pid_t entered[MAX_REQUESTS];
	size_t entered_count = 0;
	int connection, left = MAX_REQUESTS;

	while (left-- > 0 &&
	       handshake_server_accept(session->server, &request, &peer, &connection)) {
		const pid_t pid = peer.pid;

		session_take_events(session);
		if (!session_may_hear(session, &peer))
			close(connection);
		else if (request.occasion == HANDSHAKE_STOP ||
			 request.occasion == HANDSHAKE_RESUME)
			session_change(session, &request, pid, connection);
		else if (request.occasion == HANDSHAKE_LOADED)
			session_look(session, &request, pid, connection);
		else {
			session_enter(session, &request, pid, connection);
			entered[entered_count++] = pid;
		}
	}
	if (left > 0)
		session_look_at_titles(session, entered, entered_count);
}

void session_refuse_requests(struct session *session)
{
	struct handshake_request request;
	struct handshake_peer peer;
	int connection;

	while (handshake_server_accept(session->server, &request, &peer, &connection))
		enter_refuse(connection);
}
