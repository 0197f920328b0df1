#include "profile/thread_spread.h"

#include <math.h>
#include <stdbool.h>

#include "profile/autocorrelation.h"
#include "profile/change_points.h"
#include "profile/statistics.h"

/* A share above this fills a stretch of time; one below 1 - PURE is absent from it. */
#define PURE 0.95

/* The variance of a group's sum, by its threads, with its degrees of freedom. */
struct spread {
	double variance, freedom;
};

static struct spread spread_of(const struct thread_spread_terms *terms, uint32_t group)
{
	double part = 0, whole = 0, whole_squares = 0, squares = 0;

	for (size_t i = 0; i < terms->threads; i++) {
		if (terms->group_of_thread[i] != group)
			continue;
		part += (double)terms->part_of_thread[i];
		whole += (double)terms->whole_of_thread[i];
		whole_squares += pow((double)terms->whole_of_thread[i], 2);
	}
	/*
	 * The equivalent number of equal threads: a thread that hardly ran contributes little.
	 */
	const double threads = whole_squares > 0 ? whole * whole / whole_squares : 0;

	if (threads < 1.5)
		return (struct spread){ 0, 0 };
	for (size_t i = 0; i < terms->threads; i++)
		if (terms->group_of_thread[i] == group)
			squares += pow((double)terms->part_of_thread[i] -
					       part / whole * (double)terms->whole_of_thread[i],
				       2);
	return (struct spread){ squares * threads / (threads - 1), threads - 1 };
}

static bool is_first_of_group(const struct thread_spread_terms *terms, size_t thread)
{
	for (size_t i = 0; i < thread; i++)
		if (terms->group_of_thread[i] == terms->group_of_thread[thread])
			return false;
	return true;
}

double thread_spread_inflation(const struct thread_spread_terms *terms)
{
	struct spread sum = { 0, 0 };
	double part = 0, whole = 0;

	for (size_t i = 0; i < terms->threads; i++) {
		part += (double)terms->part_of_thread[i];
		whole += (double)terms->whole_of_thread[i];
		if (!is_first_of_group(terms, i))
			continue;
		const struct spread spread = spread_of(terms, terms->group_of_thread[i]);

		sum.variance += spread.variance;
		sum.freedom += spread.freedom;
	}
	const double of_chance =
		terms->series->weight * part * (whole > part ? 1 - part / whole : 0);

	if (sum.freedom <= 0 || of_chance <= 0)
		return 0;
	const struct change_points *changes = row_series_changes(terms->series);

	if (!changes->is_certain || changes->turns > PHASES_FEW)
		return 0;
	return statistics_widened(sum.variance, sum.freedom) / of_chance;
}

static double share_of(const struct thread_spread_terms *terms, size_t thread)
{
	const double whole = (double)terms->whole_of_thread[thread];

	return whole > 0 ? (double)terms->part_of_thread[thread] / whole : 0;
}

bool thread_spread_is_once(const struct thread_spread_terms *terms)
{
	bool is_apart = false;

	for (size_t i = 0; i < terms->threads; i++)
		for (size_t j = 0; j < terms->threads; j++) {
			const double share = share_of(terms, i);

			if (i == j || terms->group_of_thread[i] != terms->group_of_thread[j])
				continue;
			if (share > 1 - PURE && share < PURE)
				return false;
			is_apart |= share >= PURE && share_of(terms, j) <= 1 - PURE;
		}
	return is_apart;
}
