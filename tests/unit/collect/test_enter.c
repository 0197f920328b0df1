/* A process that makes its handshake and cannot be entered: nothing of it is left, and it is said why. */
#include "collect/agents/enter.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/handshake.h"
#include "collect/processes/image.h"
#include "collect/processes/interpreters.h"

/* From a socket whose other end is closed. */
static struct image *enter_this_process(bool is_trace)
{
	const struct handshake_request request = { .magic = HANDSHAKE_MAGIC,
						   .occasion = HANDSHAKE_START };
	struct interpreters interpreters;
	struct image *image = image_new(getpid());
	int ends[2];

	interpreters_init(&interpreters, NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	close(ends[1]);
	enter_image(image, &request, ends[0],
		    &(struct enter_terms){ .rate_hz = 1000,
					   .is_trace = is_trace,
					   .interpreters = &interpreters });
	interpreters_done(&interpreters);
	return image;
}

static void assert_left_out(struct image *image, const char *why)
{
	assert_int_equal(image->state, IMAGE_LEFT_OUT);
	assert_non_null(strstr(image->unentered_reason, why));
	assert_null(image->ring);
	assert_null(image->calls);
	image_free(image);
}

static void an_agent_that_is_answered_too_late_has_neither_ring_nor_calls(void **state)
{
	(void)state;
	assert_left_out(enter_this_process(false), "too late");
	assert_left_out(enter_this_process(true), "too late");
}

static void a_limit_of_file_sizes_is_named(void **state)
{
	struct rlimit before;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, before.rlim_max });
	struct image *sampled = enter_this_process(false);
	struct image *traced = enter_this_process(true);

	/* Before it is said what failed, which may go to a file. */
	setrlimit(RLIMIT_FSIZE, &before);
	assert_left_out(sampled, "ulimit -f");
	assert_left_out(traced, "ulimit -f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_that_is_answered_too_late_has_neither_ring_nor_calls),
		cmocka_unit_test(a_limit_of_file_sizes_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
