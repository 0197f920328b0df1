/* What a target's memory says of its handlers' cost is believed only where it can be true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"
#include "collect/session/sampling_cost.h"
#include "scene.h"

#define LIFE_NS 1000000000ULL
/* Of each of them what a process of one second can have. */
#define SAMPLES     1000
#define TICKS       10000000ULL
#define FIRST       160000ULL
#define SECOND      40000ULL
#define SLOW        3
#define SLOW_NS     2000000ULL
#define START_NS_OF 1500000ULL

static struct ring_header *honest_ring(struct scene *scene)
{
	struct ring_header *ring = scene->image->ring;

	scene->image->start_ns = monotonic_ns() - LIFE_NS;
	ring->handler_samples = ring->handler_timed = SAMPLES;
	ring->handler_ticks = TICKS;
	ring->first_walk_ticks = FIRST;
	ring->second_walk_ticks = SECOND;
	ring->handler_slow = SLOW;
	ring->handler_slow_ns = SLOW_NS;
	ring->start_ns = START_NS_OF;
	return ring;
}

static void what_can_be_true_is_believed(void **state)
{
	struct scene *scene = *state;

	honest_ring(scene);
	const struct ring_costs costs = ring_view_costs(scene->image);

	assert_int_equal(costs.handler_samples, SAMPLES);
	assert_int_equal(costs.handler_timed, SAMPLES);
	assert_int_equal(costs.handler_ticks, TICKS);
	assert_int_equal(costs.first_walk_ticks, FIRST);
	assert_int_equal(costs.second_walk_ticks, SECOND);
	assert_int_equal(costs.handler_slow, SLOW);
	assert_int_equal(costs.handler_slow_ns, SLOW_NS);
	assert_int_equal(costs.start_ns, START_NS_OF);
	/* Three quarters of a walk went away, of which half counts: of handlers but the slow. */
	assert_in_range(sampling_cost_displaced_ticks(&costs), TICKS * 37 / 100,
			TICKS * 38 / 100);
}

static void a_repeated_walk_was_no_longer_than_the_first(void **state)
{
	struct scene *scene = *state;

	honest_ring(scene)->second_walk_ticks = FIRST + 1;
	const struct ring_costs costs = ring_view_costs(scene->image);

	assert_int_equal(costs.first_walk_ticks, 0);
	assert_int_equal(sampling_cost_displaced_ticks(&costs), 0);
	assert_int_equal(costs.handler_ticks, TICKS);
}

static void walks_took_no_longer_than_their_handlers(void **state)
{
	struct scene *scene = *state;

	honest_ring(scene)->first_walk_ticks = UINT64_MAX;
	assert_int_equal(ring_view_costs(scene->image).first_walk_ticks, 0);
	honest_ring(scene)->handler_ticks = FIRST - 1;
	const struct ring_costs costs = ring_view_costs(scene->image);

	assert_int_equal(sampling_cost_displaced_ticks(&costs), 0);
}

static void handlers_took_no_longer_than_the_process_lived(void **state)
{
	struct scene *scene = *state;

	honest_ring(scene)->handler_ticks = UINT64_MAX;
	struct ring_costs costs = ring_view_costs(scene->image);

	assert_int_equal(costs.handler_ticks, 0);
	assert_int_equal(sampling_cost_displaced_ticks(&costs), 0);
	honest_ring(scene)->handler_timed = SAMPLES + 1;
	assert_int_equal(ring_view_costs(scene->image).handler_ticks, 0);
	honest_ring(scene)->handler_slow_ns = UINT64_MAX;
	assert_int_equal(ring_view_costs(scene->image).handler_slow_ns, 0);
	honest_ring(scene)->handler_slow = SAMPLES + 1;
	assert_int_equal(ring_view_costs(scene->image).handler_slow, 0);
	honest_ring(scene)->start_ns = UINT64_MAX;
	assert_int_equal(ring_view_costs(scene->image).start_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_can_be_true_is_believed, scene_setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(a_repeated_walk_was_no_longer_than_the_first,
						scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(walks_took_no_longer_than_their_handlers,
						scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(handlers_took_no_longer_than_the_process_lived,
						scene_setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
