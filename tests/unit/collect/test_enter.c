/* A process that says hello and does not wait for the answer: nothing of it is left. */
#include "collect/enter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/handshake.h"
#include "collect/image.h"
#include "collect/interpreters.h"

static void who_is_answered_too_late_has_neither_ring_nor_calls(void **state)
{
	static const struct {
		const char *what;
		bool is_trace;
	} cases[] = { { "sampled", false }, { "traced", true } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct handshake_hello hello = { .magic = HANDSHAKE_MAGIC,
						       .occasion = HANDSHAKE_START };
		struct interpreters interpreters;
		struct image *image = image_new(getpid());
		int ends[2];

		print_message("%s\n", cases[i].what);
		interpreters_init(&interpreters, NULL);
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
		close(ends[1]);
		enter_image(image, &hello, ends[0],
			    &(struct enter_terms){ .rate_hz = 1000,
						   .is_trace = cases[i].is_trace,
						   .interpreters = &interpreters });
		assert_int_equal(image->state, IMAGE_LEFT_OUT);
		assert_non_null(strstr(image->unentered_reason, "too late"));
		assert_null(image->ring);
		assert_null(image->traced);
		image_free(image);
		interpreters_done(&interpreters);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_answered_too_late_has_neither_ring_nor_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
