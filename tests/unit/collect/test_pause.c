/* A process that is paused: what its agent is shown, and where its time is booked. */
#include "collect/processes/pause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/handshake.h"
#include "base/memory.h"
#include "collect/agents/enter.h"
#include "collect/processes/image.h"

#define BURNED_NS 5000000

/* No perf events: the process's own clock says what it burns. */
static const struct pause_terms by_clock;
static const struct enter_terms without_events = { .rate_hz = 1000 };

struct scene {
	struct image *image;
	struct ring_header *ring;
};

static int scene_setup(void **state)
{
	struct scene *scene = xzalloc(sizeof *scene);

	scene->image = image_new(getpid());
	scene->image->state = IMAGE_ENTERED;
	scene->ring = xzalloc(sizeof *scene->ring);
	scene->image->ring = scene->ring;
	*state = scene;
	return 0;
}

static int scene_teardown(void **state)
{
	struct scene *scene = *state;

	scene->image->ring = NULL; /* no mapping, which it would undo */
	image_free(scene->image);
	free(scene->ring);
	free(scene);
	return 0;
}

static void burn(void)
{
	const uint64_t until_ns = cpu_meter_process_ns(getpid()) + BURNED_NS;

	while (cpu_meter_process_ns(getpid()) < until_ns)
		continue;
}

/* Says it as the agent would; the recorder's answer. */
static uint32_t ask(struct image *image, uint32_t occasion, uint32_t reason)
{
	const struct handshake_request request = { .magic = HANDSHAKE_MAGIC,
						   .occasion = occasion,
						   .reason = reason };
	struct handshake_answer answer = { 0 };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	if (occasion == HANDSHAKE_START)
		enter_image(image, &request, ends[0], &without_events);
	else
		enter_change(image, &request, ends[0], &without_events);
	assert_int_equal(recv(ends[1], &answer, sizeof answer, MSG_DONTWAIT), sizeof answer);
	close(ends[1]);
	assert_int_equal(answer.magic, HANDSHAKE_MAGIC);
	return answer.verdict;
}

static void a_process_that_stops_is_named_with_what_it_burns_from_then_on(void **state)
{
	const struct scene *scene = *state;
	struct image *image = scene->image;

	burn();
	const uint64_t begin_ns = cpu_meter_process_ns(getpid());

	assert_int_equal(ask(image, HANDSHAKE_STOP, HANDSHAKE_SECOND_LIBC), HANDSHAKE_DONE);
	assert_int_equal(scene->ring->pauses, 1);
	assert_non_null(strstr(image->unentered_reason, "it loaded a second C library"));
	burn();
	pause_look(image);
	assert_in_range(image->pause.unentered_ns, BURNED_NS,
			cpu_meter_process_ns(getpid()) - begin_ns);
	assert_int_equal(image->pause.traced_ns, 0);
	assert_int_equal(image->pause.exit_ns, 0);
}

static void one_that_stops_for_an_exec_is_not_named_and_its_time_is_its_end(void **state)
{
	const struct scene *scene = *state;
	struct image *image = scene->image;

	assert_int_equal(ask(image, HANDSHAKE_STOP, HANDSHAKE_EXEC), HANDSHAKE_DONE);
	burn();
	pause_look(image);
	assert_null(image->unentered_reason);
	assert_true(image->pause.exit_ns >= BURNED_NS);
	assert_int_equal(image->pause.unentered_ns, 0);
}

static void what_is_burned_after_it_may_go_on_is_not_booked(void **state)
{
	const struct scene *scene = *state;
	struct image *image = scene->image;

	ask(image, HANDSHAKE_STOP, HANDSHAKE_EXEC);
	assert_int_equal(ask(image, HANDSHAKE_RESUME, 0), HANDSHAKE_DONE);
	assert_int_equal(scene->ring->pauses, 2);
	const uint64_t booked_ns = image->pause.exit_ns;

	burn();
	pause_look(image);
	assert_int_equal(image->pause.exit_ns, booked_ns);
	assert_int_equal(image->pause.causes, 0);
}

static void one_that_says_so_from_the_start_is_left_out_for_its_reason(void **state)
{
	const struct scene *scene = *state;
	struct image *image = scene->image;

	image->ring = NULL;
	image->state = IMAGE_STARTING;
	assert_int_equal(ask(image, HANDSHAKE_START, HANDSHAKE_SECOND_LIBC), HANDSHAKE_LEAVE);
	assert_int_equal(image->state, IMAGE_LEFT_OUT);
	assert_non_null(strstr(image->unentered_reason, "it has a second C library"));
}

static void a_process_without_events_of_ours_is_answered_that_they_are_off(void **state)
{
	const struct scene *scene = *state;

	assert_int_equal(ask(NULL, HANDSHAKE_STOP, HANDSHAKE_EXEC), HANDSHAKE_DONE);
	scene->image->state = IMAGE_LEFT_OUT;
	assert_int_equal(ask(scene->image, HANDSHAKE_STOP, HANDSHAKE_EXEC), HANDSHAKE_DONE);
	assert_int_equal(scene->ring->pauses, 0);
}

static void an_unknown_reason_stops_it_all_the_same(void **state)
{
	const struct scene *scene = *state;

	assert_int_equal(ask(scene->image, HANDSHAKE_STOP, 4711), HANDSHAKE_DONE);
	assert_int_equal(scene->ring->pauses, 1);
	assert_null(scene->image->unentered_reason);
}

static void sampling_goes_on_when_the_last_cause_is_over(void **state)
{
	const struct scene *scene = *state;
	struct image *image = scene->image;
	const uint64_t begin_ns = cpu_meter_process_ns(getpid());

	pause_ask(image, HANDSHAKE_DEBUGGER, &by_clock);
	pause_begin(image, PAUSE_DEBUGGER, &by_clock);
	pause_end(image, PAUSE_ASKED);
	assert_int_equal(scene->ring->pauses, 1);
	burn();
	pause_end(image, PAUSE_ASKED); /* it is over already */
	pause_end(image, PAUSE_DEBUGGER);
	assert_int_equal(scene->ring->pauses, 2);
	assert_in_range(image->pause.traced_ns, BURNED_NS,
			cpu_meter_process_ns(getpid()) - begin_ns);
	assert_int_equal(image->pause.unentered_ns, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_stops_is_named_with_what_it_burns_from_then_on),
		TEST(one_that_stops_for_an_exec_is_not_named_and_its_time_is_its_end),
		TEST(what_is_burned_after_it_may_go_on_is_not_booked),
		TEST(one_that_says_so_from_the_start_is_left_out_for_its_reason),
		TEST(a_process_without_events_of_ours_is_answered_that_they_are_off),
		TEST(an_unknown_reason_stops_it_all_the_same),
		TEST(sampling_goes_on_when_the_last_cause_is_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
