/*
 * attach - begins and ends sampling in a process that was running before the recorder came.
 *
 * A thread that the recorder creates in the target (src/attach/stub.h) loads the agent, whose
 * constructor starts no mechanism since it finds no recorder, and calls fathom_attach_1() with
 * all signals blocked.  The agent is never unloaded: its handler stays for traps that are still
 * on their way, and the next attach calls the same entry.
 */
#include "abi/attach.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "abi/handshake.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/environment.h"
#include "agent/core/handshake.h"
#include "agent/core/recorder_socket.h"
#include "agent/core/hooks.h"
#include "agent/core/mechanism.h"
#include "agent/core/program_start.h"
#include "agent/core/redirect.h"
#include "agent/core/start.h"

static char socket_path[sizeof((struct attach_order *)0)->socket];
static bool has_begun;

/* Whether the program has an action for SIGTRAP, and the agent has not taken it over before. */
static bool is_trap_used(void)
{
	struct sigaction action;

	return !own_process.is_trap_ours &&
	       (sigaction(SIGTRAP, NULL, &action) != 0 || action.sa_handler != SIG_DFL);
}

/* At the first attach: what a preloaded agent does in its constructor. */
static void begin_once(void)
{
	if (has_begun)
		return;
	has_begun = true;
	for (const struct mechanism *const *row = mechanisms; *row != NULL; row++) {
		if ((*row)->hooks != NULL)
			hooks_find_global((*row)->hooks);
	}
	if (environment_socket() == NULL)
		start_follow_forks();
}

static int enter(const struct attach_order *order)
{
	const bool is_sampled =
		own_ring.header != NULL && !own_ring.has_left && recorder_socket_is_reachable();

	recorder_socket_take(order->connection);
	if (is_sampled)
		return ATTACH_IS_SAMPLED;
	if (is_trap_used())
		return ATTACH_TRAP_USED;
	handshake_leave();
	begin_once();
	if (order->main_thread)
		program_start.thread_pointer = order->main_thread_pointer;
	own_process.has_had_threads = true;
	own_handshake.leaves_children = !order->follows_children;
	own_handshake.attaches++;
	if (!own_process.is_trap_ours)
		MECHANISMS_DO(start, ());
	redirect_images();
	MECHANISMS_DO(unloaded, (0));
	strcpy(socket_path, order->socket);
	environment_adopt(socket_path);
	handshake_run(HANDSHAKE_ATTACH, HANDSHAKE_NO_REASON);
	if (own_ring.header == NULL || own_ring.has_left)
		return ATTACH_NO_ANSWER;
	MECHANISMS_DO(resume, (own_ring.header));
	return ATTACH_ENTERED;
}

int fathom_attach_1(const struct attach_order *order) AGENT_EXPORT;
int fathom_attach_1(const struct attach_order *order)
{
	if (order->bytes != sizeof *order || order->socket[sizeof order->socket - 1] != '\0')
		return ATTACH_BAD_ORDER;
	if (order->wish == ATTACH_LEAVE) {
		handshake_leave();
		return ATTACH_HAS_LEFT;
	}
	const int result = enter(order);

	recorder_socket_drop();
	return result;
}
