/*
 * What waits that ended give to running and to being runnable: only the sums are known, of all
 * that ended since the thread was settled.
 *
 * A switch takes each wait the same time.  A thread that is runnable is so for long after few of
 * its waits: mostly it gets a CPU at once, else when another thread has used its time slice.  So
 * that time is taken first from waits of a length that is rare where the thread was hardly
 * runnable, or was so after one wait alone: these are longer by what they are to give.
 */
#include "collect/wall/thread_internal.h"

#include <stdbool.h>
#include <stddef.h>

#include "collect/wall/thread.h"

/* Waits of one length or state that give part of their time. */
struct giver {
	uint64_t *ns, count;
	uint8_t state, length;
	double weight;
};
#define GIVERS (WALL_ENDED + WALL_LENGTHS)

/* A thread that gets a CPU at once is runnable for up to this long. */
#define AT_ONCE_NS 5000ULL
/* A switch takes 5 to 10 us. */
#define SWITCH_MOST_NS 100000ULL
/* So many waits show which lengths are usual, and the older ones lose weight from so many on. */
#define USUAL_LEAST 20
#define USUAL_MOST  1000
/* Per cent of the waits: a shorter length with more is usual. */
#define USUAL_PERCENT 2
/* Against the part of the waits that are of a length: that several give, and not one alone. */
#define SEVERAL_GIVE 0.05
#define ROUNDS       3

static size_t list_givers(struct wall_thread *thread, struct giver *givers)
{
	size_t count = 0;

	for (uint32_t i = 0; i < thread->ended_count; i++)
		givers[count++] = (struct giver){ .ns = &thread->ended[i].ns,
						  .count = 1,
						  .state = thread->ended[i].read.state };
	for (int i = 0; i < WALL_LENGTHS; i++) {
		if (thread->unread[i].count > 0)
			givers[count++] = (struct giver){ .ns = &thread->unread[i].ns,
							  .count = thread->unread[i].count,
							  .state = WAIT_STATE_RUNNING };
	}
	for (size_t i = 0; i < count; i++)
		givers[i].length = wall_thread_length_of(*givers[i].ns / givers[i].count);
	return count;
}

/*
 * 1, or, in relation to other states, how long the thread was runnable after such waits.  Of waits
 * that were not read nothing else is known than of all.
 */
static double expected(const struct wall_thread *thread, uint8_t state)
{
	const struct wall_sum *sum = &thread->delays[state % WAIT_STATE_COUNT];
	uint64_t all_ns = 0, all = 0;

	if (sum->count > 0 && state != WAIT_STATE_RUNNING)
		return 1 + (double)sum->ns / (double)sum->count;
	for (int i = 0; i < WAIT_STATE_COUNT; i++) {
		all_ns += thread->delays[i].ns;
		all += thread->delays[i].count;
	}
	return 1 + (all > 0 ? (double)all_ns / (double)all : 0);
}

/*
 * Takes it by weight, and leaves each wait least_ns.  Returns the rest, which they were too short
 * for.
 */
static uint64_t share(const struct giver *givers, size_t count, uint64_t ns, uint64_t least_ns)
{
	uint64_t left_ns = ns;

	for (int round = 0; round < ROUNDS && left_ns > 0; round++) {
		const uint64_t now_ns = left_ns;
		double whole = 0;

		for (size_t i = 0; i < count; i++)
			if (*givers[i].ns > givers[i].count * least_ns)
				whole += givers[i].weight;
		for (size_t i = 0; i < count && whole > 0; i++) {
			const uint64_t room_ns =
				above(*givers[i].ns, givers[i].count * least_ns);
			const uint64_t part_ns = at_most(
				at_most((uint64_t)((double)now_ns * givers[i].weight / whole),
					left_ns),
				room_ns);

			*givers[i].ns -= part_ns;
			left_ns -= part_ns;
		}
	}
	return left_ns;
}

/* The rest, the last first; what no wait has is taken from short ones of before. */
static uint64_t take_rest(struct wall_thread *thread, const struct giver *givers, size_t count,
			  uint64_t ns)
{
	for (size_t i = count; i-- > 0;) {
		const uint64_t part_ns = at_most(ns, *givers[i].ns);

		*givers[i].ns -= part_ns;
		ns -= part_ns;
	}
	for (int i = WALL_LENGTHS; i-- > 0;) {
		const uint64_t part_ns = at_most(ns, thread->shorts[i].ns);

		thread->shorts[i].ns -= part_ns;
		ns -= part_ns;
	}
	return ns;
}

/* Each switch takes the same; more than switches take is of records that were lost. */
static uint64_t take_running(struct wall_thread *thread, uint64_t ns)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);
	const bool has_lost = ns > thread->wakeups * SWITCH_MOST_NS;

	for (size_t i = 0; i < count; i++)
		givers[i].weight = (double)(has_lost ? *givers[i].ns : givers[i].count);
	return ns - take_rest(thread, givers, count, share(givers, count, ns, 0));
}

/* The beginning of the shortest usual length. */
static uint64_t usual_least_ns(const struct wall_thread *thread)
{
	for (int i = 1; i < WALL_LENGTHS; i++) {
		if (thread->usual[i - 1] * 100 >= thread->usual_count * USUAL_PERCENT)
			return i == 1 ? 0 : WALL_LENGTH_LEAST << (i - 2);
	}
	return 0;
}

static double usual_part(const struct wall_thread *thread, uint8_t length)
{
	return (double)thread->usual[length] / (double)thread->usual_count;
}

/* How usual the wait's length would be if it alone gave all of it. */
static double explains(const struct wall_thread *thread, const struct giver *giver, uint64_t ns)
{
	const uint64_t each_ns = *giver->ns / giver->count;

	return SEVERAL_GIVE +
	       (each_ns > ns ? usual_part(thread, wall_thread_length_of(each_ns - ns)) : 0);
}

/* First from waits of lengths of which there are more than usual. */
static uint64_t take_unusual(const struct wall_thread *thread, struct giver *givers,
			     size_t count, uint64_t ns)
{
	uint64_t met[WALL_LENGTHS] = { 0 }, all = 0;

	if (thread->usual_count < USUAL_LEAST)
		return ns;
	for (size_t i = 0; i < count; i++) {
		met[givers[i].length] += givers[i].count;
		all += givers[i].count;
	}
	for (size_t i = 0; i < count; i++) {
		const uint8_t length = givers[i].length;
		const double more =
			(double)met[length] - (double)all * usual_part(thread, length);

		givers[i].weight = more <= 0 ? 0
					     : (double)givers[i].count *
						       expected(thread, givers[i].state) *
						       more / (double)met[length] *
						       explains(thread, &givers[i], ns);
	}
	return share(givers, count, ns, usual_least_ns(thread));
}

static uint64_t take_queued(struct wall_thread *thread, uint64_t ns)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);
	uint64_t left_ns = take_unusual(thread, givers, count, ns);

	for (size_t i = 0; i < count; i++)
		givers[i].weight = (double)givers[i].count * expected(thread, givers[i].state);
	left_ns = share(givers, count, left_ns, 0);
	return ns - take_rest(thread, givers, count, left_ns);
}

static void learn_lengths(struct wall_thread *thread, uint64_t queued_ns)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);

	if (count == 0 || (thread->wakeups != 1 && queued_ns > thread->wakeups * AT_ONCE_NS))
		return;
	for (size_t i = 0; i < count; i++) {
		const uint64_t ns =
			above(*givers[i].ns / givers[i].count, queued_ns / thread->wakeups);

		thread->usual[wall_thread_length_of(ns)] += givers[i].count;
		thread->usual_count += givers[i].count;
	}
	if (thread->usual_count < USUAL_MOST)
		return;
	thread->usual_count = 0;
	for (int i = 0; i < WALL_LENGTHS; i++) {
		thread->usual[i] /= 2;
		thread->usual_count += thread->usual[i];
	}
}

static void learn_delay(struct wall_thread *thread, uint64_t ns)
{
	const uint8_t state = thread->ended_count > 0 ? thread->ended[0].read.state
						      : (uint8_t)WAIT_STATE_RUNNING;
	struct wall_sum *sum = &thread->delays[state % WAIT_STATE_COUNT];

	if (thread->wakeups != 1)
		return;
	sum->ns += ns;
	sum->count++;
}

uint64_t wall_thread_take(struct wall_thread *thread, uint64_t running_ns, uint64_t queued_ns)
{
	learn_delay(thread, queued_ns);
	learn_lengths(thread, queued_ns);
	return take_running(thread, running_ns) + take_queued(thread, queued_ns);
}
