/* What sockets are connected to, by the kernel's tables. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/sockets.h"

#define TCP_HEAD                                                                              \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode\n"
#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "

/* Without reading the tables of a process: that has taken too long already. */
static void assert_socket(struct sockets *sockets, uint64_t inode, const char *expected)
{
	CLEANUP(text_done) struct text text = { 0 };

	sockets->cost_ns = UINT64_MAX;
	sockets->pidfd = -1;
	assert_int_equal(sockets_add(sockets, &(struct socket_asked){ 1, 0, inode }, 2, &text),
			 *expected != '\0');
	assert_string_equal(text_string(&text), expected);
}

static void a_connection_is_called_by_its_peer(void **state)
{
	struct sockets sockets = { 0 };

	(void)state;
	sockets_take_inet(&sockets,
			  TCP_HEAD "   0: 0100007F:9C40 0200A8C0:1538 01" REST "77 1 0 20 4\n"
				   "   1: 00000000000000000000000001000000:9C41 "
				   "00000000000000000000000001000000:0050 01" REST "78 1 0\n"
				   "   2: 0000000000000000FFFF00000100007F:9C42 "
				   "0000000000000000FFFF00000100007F:0051 01" REST "79 1 0\n");
	assert_socket(&sockets, 77, "192.168.0.2:5432");
	assert_socket(&sockets, 78, "[::1]:80");
	assert_socket(&sockets, 79, "127.0.0.1:81");
	assert_socket(&sockets, 80, "");
	sockets_done(&sockets);
}

static void what_a_server_accepted_is_called_by_its_own_port(void **state)
{
	struct sockets sockets = { 0 };

	(void)state;
	sockets_take_inet(&sockets,
			  TCP_HEAD "   0: 00000000:1F90 00000000:0000 0A" REST "50 1 0\n"
				   "   1: 0100007F:1F90 0100007F:D431 01" REST "51 1 0\n"
				   "   2: 0100007F:D431 0100007F:1F90 01" REST "52 1 0\n");
	assert_socket(&sockets, 50, "port 8080");
	assert_socket(&sockets, 51, "a client of port 8080");
	assert_socket(&sockets, 52, "127.0.0.1:8080");
	sockets_done(&sockets);
}

static void a_unix_socket_is_called_by_its_path(void **state)
{
	struct sockets sockets = { 0 };

	(void)state;
	sockets_take_unix(
		&sockets,
		"Num       RefCount Protocol Flags    Type St Inode Path\n"
		"0000000000000000: 00000002 00000000 00010000 0001 01 90 /run/my app.sock\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 91 @abstract\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 92\n");
	assert_socket(&sockets, 90, "connections to /run/my app.sock");
	assert_socket(&sockets, 91, "@abstract");
	assert_socket(&sockets, 92, "");
	sockets_done(&sockets);
}

static void lines_that_are_none_say_nothing(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     "head\n",
					     "head\n\n\n",
					     "head\n  0: x\n",
					     "head\n   0: 0100007F:9C40 0100:1 01" REST "7\n",
					     "head\n   0: 0100007F:9C40 0200A8C0:1538 01" };
	struct sockets sockets = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		sockets_take_inet(&sockets, texts[i]);
		sockets_take_unix(&sockets, texts[i]);
	}
	assert_int_equal(sockets.count, 0);
	sockets_done(&sockets);
}

/* The tables of this very process. */
static void a_socket_of_this_process_is_found(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	CLEANUP(text_done) struct text text = { 0 };
	struct sockets sockets = { 0 };
	struct stat about;
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fathom-test-%d",
		 (int)getpid());
	unlink(address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(fstat(fd, &about), 0);
	sockets.pidfd = -1;
	assert_true(sockets_add(&sockets, &(struct socket_asked){ getpid(), fd, about.st_ino },
				1, &text));
	assert_string_equal(text_string(&text), address.sun_path);
	/* What is in no table is asked for no more than now and then. */
	assert_false(sockets_add(&sockets, &(struct socket_asked){ getpid(), fd, UINT64_MAX },
				 2, &text));
	unlink(address.sun_path);
	close(fd);
	sockets_done(&sockets);
}

/* A socket of this very process, asked itself. */
static void assert_asked(struct sockets *sockets, int fd, const char *format, unsigned int port)
{
	CLEANUP(freep) char *expected = xasprintf(format, port);
	CLEANUP(text_done) struct text text = { 0 };
	struct stat about;

	assert_int_equal(fstat(fd, &about), 0);
	assert_int_equal(sockets_add(sockets,
				     &(struct socket_asked){ getpid(), fd, about.st_ino }, 1,
				     &text),
			 *expected != '\0');
	assert_string_equal(text_string(&text), expected);
}

static void skip_if_refused(void)
{
	const int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	const int copy = (int)syscall(SYS_pidfd_getfd, pidfd, 0, 0);

	if (copy < 0)
		skip();
	close(copy);
	close(pidfd);
}

static void a_connection_says_itself_what_it_is(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	struct sockets sockets = { 0 };
	const int server = socket(AF_INET, SOCK_STREAM, 0);
	const int client = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	skip_if_refused();
	assert_asked(&sockets, client, "", 0); /* not connected yet: it is asked again */
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
	const int accepted = accept(server, NULL, NULL);
	const unsigned int port = ntohs(address.sin_port);

	assert_asked(&sockets, client, "127.0.0.1:%u", port);
	assert_asked(&sockets, server, "port %u", port);
	assert_asked(&sockets, accepted, "a client of port %u", port);
	assert_int_equal(sockets.cost_ns, 0); /* no table was read for that */
	close(accepted);
	close(client);
	close(server);
	sockets_done(&sockets);
}

static void both_ends_of_a_unix_socket_have_its_path(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct sockets sockets = { 0 };
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);
	const int client = socket(AF_UNIX, SOCK_STREAM, 0);
	int pair[2];

	(void)state;
	skip_if_refused();
	snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fathom-test-%d",
		 (int)getpid());
	unlink(address.sun_path);
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
	const int accepted = accept(server, NULL, NULL);

	assert_asked(&sockets, client, "/tmp/fathom-test-%d", (unsigned int)getpid());
	assert_asked(&sockets, server, "connections to /tmp/fathom-test-%d",
		     (unsigned int)getpid());
	assert_asked(&sockets, accepted, "a client of /tmp/fathom-test-%d",
		     (unsigned int)getpid());
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_asked(&sockets, pair[0], "", 0);
	unlink(address.sun_path);
	close(accepted);
	close(client);
	close(server);
	close(pair[0]);
	close(pair[1]);
	sockets_done(&sockets);
}

/* Event loops watch pipes and eventfds as well, at each of their waits. */
static void what_is_not_a_socket_is_asked_once(void **state)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct sockets sockets = { 0 };
	const int unconnected = socket(AF_INET, SOCK_STREAM, 0);
	struct stat of_pipe, of_socket;
	int ends[2];

	(void)state;
	skip_if_refused();
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[0], &of_pipe), 0);
	assert_int_equal(fstat(unconnected, &of_socket), 0);
	const struct socket_asked pipe_asked = { getpid(), ends[0], of_pipe.st_ino };
	const struct socket_asked socket_asked = { getpid(), unconnected, of_socket.st_ino };

	assert_false(sockets_add_peer(&sockets, &pipe_asked, 1, &text));
	assert_int_equal(sockets.count, 1);
	assert_false(sockets_add_peer(&sockets, &pipe_asked, 2, &text));
	/* It may be connected later. */
	assert_false(sockets_add_peer(&sockets, &socket_asked, 3, &text));
	assert_int_equal(sockets.count, 1);
	assert_string_equal(text_string(&text), "");
	close(unconnected);
	close(ends[0]);
	close(ends[1]);
	sockets_done(&sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_called_by_its_peer),
		cmocka_unit_test(what_a_server_accepted_is_called_by_its_own_port),
		cmocka_unit_test(a_unix_socket_is_called_by_its_path),
		cmocka_unit_test(lines_that_are_none_say_nothing),
		cmocka_unit_test(a_socket_of_this_process_is_found),
		cmocka_unit_test(a_connection_says_itself_what_it_is),
		cmocka_unit_test(both_ends_of_a_unix_socket_have_its_path),
		cmocka_unit_test(what_is_not_a_socket_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
