#include "profile/change_points.h"

#include <math.h>
#include <stdlib.h>

#include "profile/sequence.h"

/*
 * Gains are squares of standard normal deviates: what a cut must gain; what the best of two
 * thousand places gains by chance, which is subtracted; and what chance never reaches.
 */
#define GAIN_LEAST   12.0
#define GAIN_CHANCE  8.0
#define GAIN_CERTAIN 30.0
/* Mean of the smallest three quarters of squared standard normal deviates. */
#define SMALLER_SQUARES 0.368

/* Cumulative sums up to each slot, in samples. */
struct pieces {
	double part[SERIES_SLOTS + 1], whole[SERIES_SLOTS + 1];
	double noise;              /* variance of one sample's share */
	size_t ends[SERIES_SLOTS]; /* where each piece ends, in order */
	size_t count;
	double gain; /* of the best cut */
};

struct cut {
	size_t first, end;
	double gain;
};

static double part_of(const struct pieces *pieces, size_t first, size_t end)
{
	return pieces->part[end] - pieces->part[first];
}

static double whole_of(const struct pieces *pieces, size_t first, size_t end)
{
	return pieces->whole[end] - pieces->whole[first];
}

static double share_of(const struct pieces *pieces, size_t first, size_t end)
{
	const double whole = whole_of(pieces, first, end);

	return whole > 0 ? part_of(pieces, first, end) / whole : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Variance between neighbouring slots, without the largest quarter, which contains the steps;
 * at least that of chance.
 */
static double noise_of(const struct pieces *pieces, size_t count)
{
	double squares[SERIES_SLOTS], sum = 0;
	size_t found = 0, last = count;
	const double share = share_of(pieces, 0, count);

	for (size_t i = 0; i < count; i++) {
		const double whole = whole_of(pieces, i, i + 1);

		if (whole <= 0)
			continue;
		if (last < count)
			squares[found++] = pow(share_of(pieces, i, i + 1) -
						       share_of(pieces, last, last + 1),
					       2) /
					   (1 / whole + 1 / whole_of(pieces, last, last + 1));
		last = i;
	}
	qsort(squares, found, sizeof *squares, compare_doubles);
	found -= found / 4;
	for (size_t i = 0; i < found; i++)
		sum += squares[i] / (double)found;
	return fmax(share * (1 - share), sum / SMALLER_SQUARES);
}

/* How much separating a stretch from the rest of its piece gains. */
static double gain_of(const struct pieces *pieces, double part, double whole, double all_part,
		      double all_whole)
{
	const double rest = all_whole - whole;
	const double step = part / whole - (all_part - part) / rest;
	/*
	 * In a rare row three samples next to each other are no step: the variance is at least
	 * that of the stretch's own share, with one sample of either kind added.
	 */
	const double own = (part + 1) * (whole - part + 1) / ((whole + 2) * (whole + 2));

	return step * step * whole * rest / all_whole / fmax(pieces->noise, own);
}

static struct cut best_cut(const struct pieces *pieces, size_t first, size_t end)
{
	const double part = part_of(pieces, first, end), whole = whole_of(pieces, first, end);
	struct cut best = { first, end, 0 };

	for (size_t from = first; from < end; from++)
		for (size_t to = from + 1; to <= end; to++) {
			const double within = whole_of(pieces, from, to);

			if (within <= 0 || within >= whole)
				continue;
			const double gain =
				gain_of(pieces, part_of(pieces, from, to), within, part, whole);

			if (gain > best.gain)
				best = (struct cut){ from, to, gain };
		}
	return best;
}

/*
 * Recurses at most as deep as there are slots: each piece is shorter than the one it is cut
 * from.
 */
static void cut(struct pieces *pieces, size_t first, size_t end)
{
	const struct cut best = best_cut(pieces, first, end);

	pieces->gain = fmax(pieces->gain, best.gain);
	if (best.gain < GAIN_LEAST) {
		pieces->ends[pieces->count++] = end;
		return;
	}
	if (best.first > first)
		cut(pieces, first, best.first);
	cut(pieces, best.first, best.end);
	if (best.end < end)
		cut(pieces, best.end, end);
}

/*
 * The variance of a sum whose share goes on changing as between these pieces, times the whole
 * squared.
 */
static double variance_of(const struct pieces *pieces, size_t count)
{
	const double all = whole_of(pieces, 0, count), mean = share_of(pieces, 0, count);
	double spread = 0, steps = 0, last = 0;

	for (size_t i = 0, first = 0; i < pieces->count; first = pieces->ends[i++]) {
		const double share = share_of(pieces, first, pieces->ends[i]);

		spread += whole_of(pieces, first, pieces->ends[i]) / all * pow(share - mean, 2);
		steps += i > 0 ? pow(share - last, 2) : 0;
		last = share;
	}
	return steps > 0 ? 4 * pow(spread * all, 2) / steps : 0;
}

static size_t turns_of(const struct pieces *pieces)
{
	double last = share_of(pieces, 0, pieces->ends[0]), way = 0;
	size_t turns = 0;

	for (size_t i = 1; i < pieces->count; i++) {
		const double share = share_of(pieces, pieces->ends[i - 1], pieces->ends[i]);

		turns += (share - last) * way <= 0;
		way = share - last;
		last = share;
	}
	return turns;
}

struct change_points change_points_of(const float *part, const float *whole, size_t count,
				      double weight)
{
	struct pieces pieces = { .count = 0 };

	if (count == 0 || count > SERIES_SLOTS || weight <= 0)
		return (struct change_points){ .count = 0 };
	for (size_t i = 0; i < count; i++) {
		pieces.part[i + 1] = pieces.part[i] + (double)part[i] / weight;
		pieces.whole[i + 1] = pieces.whole[i] + (double)whole[i] / weight;
	}
	pieces.noise = noise_of(&pieces, count);
	if (pieces.noise <= 0)
		return (struct change_points){ .count = 0 };
	cut(&pieces, 0, count);
	if (pieces.count == 1)
		return (struct change_points){ .count = 0 };
	return (struct change_points){
		.count = pieces.count - 1,
		.turns = turns_of(&pieces),
		.is_certain = pieces.gain >= GAIN_CERTAIN,
		.variance = variance_of(&pieces, count) * (1 - GAIN_CHANCE / pieces.gain) *
			    weight * weight,
	};
}

const struct change_points *row_series_changes(struct row_series *series)
{
	if (!series->has_changes)
		series->changes = change_points_of(series->part, series->whole, series->count,
						   series->weight);
	series->has_changes = true;
	return &series->changes;
}
