#include "profile/autocorrelation.h"

#include <math.h>

#include "profile/change_points.h"
#include "profile/statistics.h"

enum {
	SLOTS_LEAST = 8,  /* with fewer, the variance cannot be estimated */
	SAMPLES_FEW = 20, /* with fewer, phases are not called regular, */
	FREEDOM_FEW = 6,  /* nor with fewer degrees of freedom */
	FREEDOM_MOST = 24,
};

/*
 * Lower bound of the inflation: regular phases make sums vary less than chance would, but not
 * less than clocks do.
 */
static const double LEAST = 1.0 / 20;
/* A row with at least this share of a stretch of time fills it. */
static const double PURE = 0.95;
/*
 * With more phases than this the longest were seen, so the variance from steps counts for less.
 */
static const double PHASES_MET = 12;

/* The range of slots in which both the row and other code can be expected. */
struct window {
	const float *part, *whole;
	size_t count;
	double share;
	/* For the row: its time, or all other time, is in the window only. */
	bool is_empty_outside, is_full_outside;
};

static bool is_empty(const struct window *window, size_t slot)
{
	return window->part[slot] <= 0;
}

static bool is_full(const struct window *window, size_t slot)
{
	return window->part[slot] >= window->whole[slot] * (1 - 1e-6F);
}

/*
 * Removes slots of one kind from both ends, and next to them the slot that is partly of that
 * kind.
 */
static bool trim(struct window *window,
		 bool (*is_known)(const struct window *window, size_t slot))
{
	size_t first = 0, end = window->count;

	while (first < end && is_known(window, first))
		first++;
	while (end > first && is_known(window, end - 1))
		end--;
	const bool is_trimmed = first > 0 || end < window->count;

	if (end > first && end < window->count)
		end--;
	if (end > first && first > 0)
		first++;
	window->part += first;
	window->whole += first;
	window->count = end - first;
	return is_trimmed;
}

static double share_of(const struct window *window)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < window->count; i++) {
		sum += (double)window->part[i];
		all += (double)window->whole[i];
	}
	return all > 0 ? sum / all : 0;
}

static struct window window_of(const float *part, const float *whole, size_t count)
{
	struct window window = { .part = part, .whole = whole, .count = count };

	window.is_empty_outside = trim(&window, is_empty);
	if (share_of(&window) > 0.5)
		window.is_full_outside = trim(&window, is_full);
	window.share = share_of(&window);
	return window;
}

/*
 * Where most of the recording is outside of the window, by more than chance, it ran once as a
 * whole: what comes and goes in it says nothing about when it comes again.
 */
static bool is_one_stretch(const struct window *window, struct row_series *series)
{
	return window->count < SLOTS_LEAST ||
	       (window->is_empty_outside && window->share > PURE) ||
	       (window->is_full_outside && window->share < 1 - PURE) ||
	       (window->count * 2 < series->count && row_series_changes(series)->is_certain);
}

static double off_at(const struct window *window, size_t slot)
{
	return (double)window->part[slot] - window->share * (double)window->whole[slot];
}

/* The square of a cosine coefficient: an estimate of the variance of the window's sum. */
static double power_at(const struct window *window, size_t frequency)
{
	const double angle = M_PI * (double)frequency / (double)window->count;
	const double twice = 2 * cos(angle);
	/* cos(angle * (i + 1/2)), each computed from the two before. */
	double at = cos(angle / 2), last = at, sum = 0;

	for (size_t i = 0; i < window->count; i++) {
		const double next = twice * at - last;

		sum += off_at(window, i) * at;
		last = at;
		at = next;
	}
	return 2 * sum * sum;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* How many of the lowest frequencies have a flat spectrum. */
static size_t flat_part(const double *powers, size_t count)
{
	for (; count > 3; count /= 2) {
		const size_t half = count / 2;
		const double low = mean_of(powers, half);
		const double high = mean_of(powers + half, count - half);
		/*
		 * Flat within a standard error, or twice that if the lower half is smaller: the
		 * interval is then too wide rather than too narrow.
		 */
		const double most = 1 + sqrt(4 / (double)half);

		if (low < high * most && high < low * most * 2)
			break;
	}
	return count;
}

/* How often the row's time rose above its share. */
static size_t returns_of(const struct window *window)
{
	size_t returns = 0;

	for (size_t i = 1; i < window->count; i++)
		returns += off_at(window, i) > 0 && off_at(window, i - 1) <= 0;
	return returns;
}

struct estimate {
	double variance; /* of the window's sum */
	size_t freedom;
};

static struct estimate estimate_of(const struct window *window, size_t freedom_most)
{
	double powers[FREEDOM_MOST];
	size_t freedom = FREEDOM_MOST;

	while (freedom >= window->count)
		freedom /= 2;
	for (size_t i = 0; i < freedom; i++)
		powers[i] = power_at(window, i + 1);
	freedom = flat_part(powers, freedom);
	freedom = freedom < freedom_most ? freedom : freedom_most;
	return (struct estimate){ mean_of(powers, freedom), freedom };
}

/*
 * The change points in the window; if the row both came and went inside it, the time outside is
 * one more phase, and no start-up.
 */
static struct change_points changes_of(const struct window *window, struct row_series *series)
{
	if (window->count == series->count)
		return *row_series_changes(series);
	const struct change_points inner =
		change_points_of(window->part, window->whole, window->count, series->weight);

	if (inner.count <= 2)
		return inner;
	const struct change_points *outer = row_series_changes(series);

	return (struct change_points){
		.count = outer->count > inner.count ? outer->count : inner.count,
		.turns = inner.turns,
		.is_certain = inner.is_certain || outer->is_certain,
		.variance = fmax(outer->variance, inner.variance),
	};
}

/* Half as many phases as there are changes; 0: no change was seen. */
static double phases_of(const struct change_points *changes)
{
	return (double)(changes->count > 0 ? changes->count + 1 : 0) / 2;
}

/* Phases in which the row (or all other code) ran: on, off, on, off are two. */
static unsigned int number_of_phases(const struct change_points *changes)
{
	const size_t phases = (changes->turns + 1) / 2 + 1;

	return phases <= PHASES_FEW ? (unsigned int)phases : 0;
}

static double variance_of(const struct estimate *estimate, const struct change_points *changes)
{
	const double phases = phases_of(changes);
	const double spectral =
		statistics_widened(estimate->variance, (double)estimate->freedom);

	if (phases <= 0)
		return spectral;
	return fmax(spectral, statistics_widened(changes->variance, phases) *
				      fmin(1, PHASES_MET / phases));
}

struct autocorrelation autocorrelation_of(struct row_series *series)
{
	const double weight = series->weight;
	double sum = 0, ns = 0;

	for (size_t i = 0; i < series->count; i++) {
		sum += (double)series->part[i];
		ns += (double)series->whole[i];
	}
	const double of_chance = weight * sum * (ns > sum ? 1 - sum / ns : 0);
	const struct window window = window_of(series->part, series->whole, series->count);

	if (of_chance <= 0)
		return (struct autocorrelation){ 1, 0 };
	if (is_one_stretch(&window, series))
		return (struct autocorrelation){ 1, 1 };
	const struct change_points changes = changes_of(&window, series);
	const double phases = phases_of(&changes);
	const struct estimate found =
		estimate_of(&window, changes.is_certain ? (size_t)phases : FREEDOM_MOST);
	/*
	 * Regular phases need samples of both the row and other code; and slots that hardly
	 * differ may be in step with the timer.
	 */
	const bool can_be_regular = fmin(sum, ns - sum) >= weight * SAMPLES_FEW &&
				    found.freedom >= FREEDOM_FEW &&
				    returns_of(&window) >= FREEDOM_FEW;

	return (struct autocorrelation){
		fmax(variance_of(&found, &changes) / of_chance, can_be_regular ? LEAST : 1),
		changes.is_certain ? number_of_phases(&changes) : 0,
	};
}
