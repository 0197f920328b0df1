/*
 * What waits that ended give to running and to being runnable: only the sums are known, of all
 * that ended since the thread was settled.
 *
 * A switch takes each wait the same time.  How long the thread is runnable after waits of one state
 * or length is learned from waits that ended alone, or with others like them.  A thread that is
 * runnable for long is so after few of its waits, when another thread has to use up its time slice:
 * these are longer by that, so those give more that would be of a usual length without it.
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
#define GIVERS (WALL_ENDED + WALL_UNREAD + WALL_LENGTHS)

/* A thread that gets a CPU at once is runnable for up to this long. */
#define AT_ONCE_NS 5000ULL
/* A switch takes 5 to 10 us. */
#define SWITCH_MOST_NS 100000ULL
/* So many waits show which lengths are usual, and the older ones lose weight from so many on. */
#define USUAL_LEAST 20
#define USUAL_MOST  1000
/* Likewise of waits whose delays are known. */
#define KNOWN_MOST 1000
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
	for (uint32_t i = 0; i < thread->unread_count; i++)
		givers[count++] = (struct giver){ .ns = &thread->unread_ns[i],
						  .count = 1,
						  .state = WAIT_STATE_RUNNING };
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

/* Waits like this one, of which is known how long the thread was runnable after them. */
static struct wall_sum *like(struct wall_thread *thread, const struct giver *giver)
{
	return giver->state != WAIT_STATE_RUNNING
		       ? &thread->delays[giver->state % WAIT_STATE_COUNT]
		       : &thread->unread_delays[giver->length];
}

/* In relation to others, how long the thread is runnable after such a wait. */
static double expected(struct wall_thread *thread, const struct giver *giver)
{
	const struct wall_sum *sum = like(thread, giver);
	const struct wall_sum *all = &thread->queued;

	if (sum->count > 0)
		return 1 + (double)sum->ns / (double)sum->count;
	return 1 + (all->count > 0 ? (double)all->ns / (double)all->count : 0);
}

/*
 * What each gave, of waits that are all alike, or ended alone: to learn from what was divided by
 * what was known before would make the first guess true.
 */
static void learn_delays(struct wall_thread *thread, const struct giver *givers,
			 const uint64_t *before_ns, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (like(thread, &givers[i]) != like(thread, &givers[0]))
			return;
	for (size_t i = 0; i < count; i++) {
		struct wall_sum *sum = like(thread, &givers[i]);

		if (sum->count >= KNOWN_MOST) {
			sum->ns /= 2;
			sum->count /= 2;
		}
		sum->ns += before_ns[i] - *givers[i].ns;
		sum->count += givers[i].count;
	}
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

/* The shortest wait that wall_thread_length_of() is of. */
static uint64_t first_of_length(uint32_t length)
{
	return length > 0 ? WALL_LENGTH_LEAST << (length - 1) : 0;
}

/* Of the lengths in usual. */
static uint32_t usual_of(uint64_t ns)
{
	const uint32_t length = wall_thread_length_of(ns);
	const uint64_t first_ns = first_of_length(length);
	const uint64_t all_ns = (WALL_LENGTH_LEAST << length) - first_ns;

	return length * WALL_USUAL_PARTS +
	       (uint32_t)at_most((ns - first_ns) * WALL_USUAL_PARTS / all_ns,
				 WALL_USUAL_PARTS - 1);
}

/* What the shortest usual length has at least, to a factor of two. */
static uint64_t usual_least_ns(const struct wall_thread *thread)
{
	for (uint32_t i = 0; i < WALL_USUAL; i++) {
		if (thread->usual[i] * 100 >= thread->usual_count * USUAL_PERCENT)
			return first_of_length(i / WALL_USUAL_PARTS);
	}
	return 0;
}

/* The part of the waits that are about as long: of one length, or of one next to it. */
static double usual_part(const struct wall_thread *thread, uint64_t ns)
{
	const uint32_t number = usual_of(ns);
	uint32_t count = 0;

	for (uint32_t i = number > 0 ? number - 1 : 0; i <= number + 1 && i < WALL_USUAL; i++)
		count += thread->usual[i];
	return (double)count / (double)thread->usual_count;
}

/*
 * How much more usual the wait's length would be if it alone gave all of it.  That waits of some
 * state end alone more often than others, and are known better, cancels out.
 */
static double explains(const struct wall_thread *thread, const struct giver *giver, uint64_t ns)
{
	const uint64_t each_ns = *giver->ns / giver->count;
	const double without = each_ns > ns ? usual_part(thread, each_ns - ns) : 0;

	return (SEVERAL_GIVE + without) / (SEVERAL_GIVE + usual_part(thread, each_ns));
}

static uint64_t take_queued(struct wall_thread *thread, uint64_t ns)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);
	const bool has_usual = thread->usual_count >= USUAL_LEAST;
	uint64_t before_ns[GIVERS], left_ns;

	for (size_t i = 0; i < count; i++) {
		before_ns[i] = *givers[i].ns;
		givers[i].weight = (double)givers[i].count * expected(thread, &givers[i]) *
				   (has_usual ? explains(thread, &givers[i], ns) : 1);
	}
	/* First what leaves each the shortest usual length. */
	left_ns = share(givers, count, ns, has_usual ? usual_least_ns(thread) : 0);
	left_ns = take_rest(thread, givers, count, share(givers, count, left_ns, 0));
	learn_delays(thread, givers, before_ns, count);
	thread->queued.ns += ns - left_ns;
	thread->queued.count += thread->wakeups;
	return ns - left_ns;
}

/* Whether it was runnable for no longer than it is after its waits on average, or hardly so. */
static bool is_little(const struct wall_thread *thread, uint64_t queued_ns)
{
	const struct wall_sum *queued = &thread->queued;
	const uint64_t average_ns = queued->count > 0 ? queued->ns / queued->count : 0;

	return queued_ns <=
	       thread->wakeups * (average_ns > AT_ONCE_NS ? average_ns : AT_ONCE_NS);
}

static void learn_lengths(struct wall_thread *thread, uint64_t queued_ns)
{
	struct giver givers[GIVERS];
	const size_t count = list_givers(thread, givers);

	if (count == 0 || !is_little(thread, queued_ns))
		return;
	for (size_t i = 0; i < count; i++) {
		const uint32_t waits = (uint32_t)at_most(givers[i].count, USUAL_MOST);

		thread->usual[usual_of(*givers[i].ns / givers[i].count)] += waits;
		thread->usual_count += waits;
	}
	if (thread->usual_count < USUAL_MOST)
		return;
	thread->usual_count = 0;
	for (int i = 0; i < WALL_USUAL; i++) {
		thread->usual[i] /= 2;
		thread->usual_count += thread->usual[i];
	}
}

uint64_t wall_thread_take(struct wall_thread *thread, uint64_t running_ns, uint64_t queued_ns)
{
	learn_lengths(thread, queued_ns);
	return take_running(thread, running_ns) + take_queued(thread, queued_ns);
}
