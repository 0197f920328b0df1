/* Agents connect, and speak when they come to it. */
#include "collect/agents/handshake_server.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/handshake.h"
#include "base/error.h"
#include "base/monotonic.h"

static struct handshake_server *server;
static struct handshake_request request;
static struct handshake_peer peer;
static int connection;

static int open_server(void **state)
{
	struct error err;

	(void)state;
	return handshake_server_open(false, &server, &err);
}

static int close_server(void **state)
{
	(void)state;
	handshake_server_close(server);
	return 0;
}

static int agent_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, handshake_server_path(server));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static void agent_speak(int fd, uint32_t magic, uint32_t occasion)
{
	const struct handshake_request words = { .magic = magic, .occasion = occasion };

	assert_int_equal(send(fd, &words, sizeof words, MSG_NOSIGNAL), sizeof words);
}

static bool is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 0) == 1;
}

static int accept_next(void)
{
	return handshake_server_accept(server, &request, &peer, &connection);
}

static void answer_and_hear(int agent)
{
	const struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
						 .verdict = HANDSHAKE_DONE };
	struct handshake_answer heard;

	assert_int_equal(handshake_server_answer(connection, &answer, -1), 0);
	assert_int_equal(recv(agent, &heard, sizeof heard, MSG_DONTWAIT), sizeof heard);
	assert_int_equal(heard.verdict, HANDSHAKE_DONE);
}

static void test_a_request_is_heard_and_answered(void **state)
{
	const int agent = agent_connect();

	(void)state;
	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_START);
	assert_true(is_readable(handshake_server_fd(server)));
	assert_int_equal(accept_next(), 1);
	assert_int_equal(peer.pid, getpid());
	assert_false(peer.is_foreign);
	assert_int_equal(request.occasion, HANDSHAKE_START);
	answer_and_hear(agent);
	assert_int_equal(accept_next(), 0);
	close(agent);
}

static void test_an_agent_that_connects_and_speaks_later_is_heard_then(void **state)
{
	const int agent = agent_connect();

	(void)state;
	assert_int_equal(accept_next(), 0);
	/* Nothing to do for the recorder, until the agent runs on. */
	assert_false(is_readable(handshake_server_fd(server)));
	assert_int_equal(accept_next(), 0);
	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_STOP);
	assert_true(is_readable(handshake_server_fd(server)));
	assert_int_equal(accept_next(), 1);
	assert_int_equal(request.occasion, HANDSHAKE_STOP);
	answer_and_hear(agent);
	close(agent);
}

static void test_a_silent_agent_keeps_none_waiting(void **state)
{
	int silent[100], agent;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		silent[i] = agent_connect();
	agent = agent_connect();
	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_FORK);
	assert_int_equal(accept_next(), 1);
	assert_int_equal(request.occasion, HANDSHAKE_FORK);
	answer_and_hear(agent);
	close(agent);
	for (size_t i = 0; i < 100; i++) {
		agent_speak(silent[i], HANDSHAKE_MAGIC, HANDSHAKE_STOP);
		assert_int_equal(accept_next(), 1);
		answer_and_hear(silent[i]);
		close(silent[i]);
	}
	assert_int_equal(accept_next(), 0);
}

static void test_what_leaves_and_what_speaks_otherwise_is_turned_away(void **state)
{
	const int gone = agent_connect(), stranger = agent_connect();
	char byte;

	(void)state;
	assert_int_equal(accept_next(), 0);
	close(gone);
	agent_speak(stranger, HANDSHAKE_MAGIC + 1, HANDSHAKE_START);
	assert_int_equal(accept_next(), 0);
	assert_false(is_readable(handshake_server_fd(server)));
	assert_int_equal(recv(stranger, &byte, 1, MSG_DONTWAIT), 0);
	close(stranger);
}

/* The lowest descriptor that is free: where it is the limit, there is none. */
static void leave_no_descriptors(struct rlimit *out_before)
{
	const int lowest = dup(STDIN_FILENO);

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, out_before), 0);
	const struct rlimit none = { (rlim_t)lowest, out_before->rlim_max };

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void test_out_of_descriptors_one_that_speaks_replaces_a_silent_one(void **state)
{
	const int silent = agent_connect();
	struct rlimit before;
	char byte;

	(void)state;
	assert_int_equal(accept_next(), 0);
	/* One has what was spared. */
	const int other = agent_connect(), agent = agent_connect();

	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_STOP);
	leave_no_descriptors(&before);
	const uint64_t start_ns = monotonic_ns();
	int is_heard = 0;

	while (!is_heard && monotonic_ns() - start_ns < 10000000000)
		is_heard = accept_next();
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(is_heard, 1);
	assert_int_equal(request.occasion, HANDSHAKE_STOP);
	answer_and_hear(agent);
	assert_int_equal(recv(silent, &byte, 1, MSG_DONTWAIT), 0);
	agent_speak(other, HANDSHAKE_MAGIC, HANDSHAKE_FORK);
	assert_int_equal(accept_next(), 1);
	answer_and_hear(other);
	close(silent);
	close(other);
	close(agent);
}

static void test_an_agent_that_was_not_answered_in_time_is_known(void **state)
{
	(void)state;
	assert_null(handshake_server_why_unanswered(server, getpid(), 0));
	const int agent = agent_connect();

	/* It may have ended before it could speak. */
	assert_null(handshake_server_why_unanswered(server, getpid(), 0));
	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_START);
	close(agent);
	assert_string_equal(handshake_server_why_unanswered(server, getpid(), 0),
			    HANDSHAKE_SERVER_TOO_LATE);
	assert_null(handshake_server_why_unanswered(server, getppid(), 0));
	/* Its request is heard all the same, and then it waits no longer. */
	assert_int_equal(accept_next(), 1);
	assert_int_equal(request.occasion, HANDSHAKE_START);
	close(connection);
	assert_null(handshake_server_why_unanswered(server, getpid(), 0));
}

static void test_so_is_one_for_which_no_descriptor_was_left(void **state)
{
	const int spared = agent_connect(), agent = agent_connect();
	struct rlimit before;

	(void)state;
	agent_speak(agent, HANDSHAKE_MAGIC, HANDSHAKE_START);
	leave_no_descriptors(&before);
	const uint64_t start_ns = monotonic_ns();
	const char *reason = handshake_server_why_unanswered(server, getpid(), start_ns);

	setrlimit(RLIMIT_NOFILE, &before);
	assert_non_null(reason);
	assert_string_equal(reason, HANDSHAKE_SERVER_NO_DESCRIPTORS);
	/* A process that began later has nothing to do with that. */
	assert_null(handshake_server_why_unanswered(server, getppid(), monotonic_ns()));
	close(agent);
	close(spared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_request_is_heard_and_answered,
						open_server, close_server),
		cmocka_unit_test_setup_teardown(
			test_an_agent_that_connects_and_speaks_later_is_heard_then, open_server,
			close_server),
		cmocka_unit_test_setup_teardown(test_a_silent_agent_keeps_none_waiting,
						open_server, close_server),
		cmocka_unit_test_setup_teardown(
			test_what_leaves_and_what_speaks_otherwise_is_turned_away, open_server,
			close_server),
		cmocka_unit_test_setup_teardown(
			test_out_of_descriptors_one_that_speaks_replaces_a_silent_one,
			open_server, close_server),
		cmocka_unit_test_setup_teardown(
			test_an_agent_that_was_not_answered_in_time_is_known, open_server,
			close_server),
		cmocka_unit_test_setup_teardown(test_so_is_one_for_which_no_descriptor_was_left,
						open_server, close_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
