#include "profile/thread_turns.h"

#include <math.h>
#include <stdbool.h>

#include "profile/change_points.h"

/* A share above this fills a thread's time; one below 1 - PURE is absent from it. */
#define PURE 0.95

static double share_of(const struct thread_turns *turns, size_t thread)
{
	const size_t first = thread * turns->turn_slots;
	double part = 0, whole = 0;

	for (size_t i = first; i < first + turns->turn_slots; i++) {
		part += (double)turns->part[i];
		whole += (double)turns->whole[i];
	}
	return whole > 0 ? part / whole : 0;
}

/*
 * Whether every thread with others in its group is in the row either all the time or never, and
 * some group has both: then each has the row in one stretch.
 */
static bool is_one_stretch(const struct thread_turns *turns)
{
	double shares[TURN_THREADS];
	bool is_apart = false;

	for (size_t i = 0; i < turns->threads; i++)
		shares[i] = share_of(turns, i);
	for (size_t i = 0; i < turns->threads; i++)
		for (size_t j = 0; j < turns->threads; j++) {
			if (i == j || turns->groups[i] != turns->groups[j])
				continue;
			if (shares[i] > 1 - PURE && shares[i] < PURE)
				return false;
			is_apart |= shares[i] >= PURE && shares[j] <= 1 - PURE;
		}
	return is_apart;
}

static bool changes_within_a_thread(const struct thread_turns *turns, double weight)
{
	for (size_t i = 0; i < turns->threads; i++) {
		const size_t first = i * turns->turn_slots;

		if (change_points_of(turns->part + first, turns->whole + first,
				     turns->turn_slots, weight)
			    .is_certain)
			return true;
	}
	return false;
}

struct autocorrelation thread_turns_autocorrelation(struct row_series *in_time,
						    const struct thread_turns *turns)
{
	struct autocorrelation found = autocorrelation_of(in_time);

	if (found.phases == 1 || turns->threads < 2)
		return found;
	if (is_one_stretch(turns))
		return (struct autocorrelation){ 1, 1 };
	if (!changes_within_a_thread(turns, in_time->weight))
		return found;
	struct row_series in_turn = {
		.part = turns->part,
		.whole = turns->whole,
		.count = turns->threads * turns->turn_slots,
		.weight = in_time->weight,
	};
	const struct autocorrelation of_turns = autocorrelation_of(&in_turn);

	if (of_turns.phases == 1)
		return of_turns;
	return of_turns.inflation > found.inflation ? of_turns : found;
}
