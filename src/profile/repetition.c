#include "profile/repetition.h"

#include <math.h>

#include "profile/statistics.h"

enum {
	BATCHES_MIN = 8, /* fewer say too little of their variance */
	SAMPLES_FEW = 20,
};

/* Phases that are regular make sums better than chance would; how much is not certain. */
static const double LEAST = 1.0 / 2;

struct window {
	const float *part, *whole;
	size_t count;
	double share;
};

struct batches {
	double variance; /* of the window's sum */
	double next;     /* the correlation of a batch with the next one */
	size_t count;
};

/* The slots between the first and the last one with the row; both are only partly of it. */
static struct window window_of(const float *part, const float *whole, size_t count)
{
	struct window window = { part, whole, count, 0 };
	double sum = 0, all = 0;

	while (window.count > 0 && window.part[window.count - 1] <= 0)
		window.count--;
	if (window.count > 0 && window.count < count)
		window.count--;
	if (window.count > 0 && window.part[0] <= 0) {
		while (window.count > 0 && window.part[0] <= 0)
			window.part++, window.whole++, window.count--;
		if (window.count > 0)
			window.part++, window.whole++, window.count--;
	}
	for (size_t i = 0; i < window.count; i++) {
		sum += (double)window.part[i];
		all += (double)window.whole[i];
	}
	window.share = all > 0 ? sum / all : 0;
	return window;
}

static struct batches batches_of(const struct window *window, size_t slots)
{
	const size_t count = window->count / slots;
	double squares = 0, products = 0, last = 0;

	for (size_t i = 0; i < count; i++) {
		double off = 0;

		for (size_t j = i * slots; j < (i + 1) * slots; j++)
			off += (double)window->part[j] -
			       window->share * (double)window->whole[j];
		squares += off * off;
		products += i > 0 ? off * last : 0;
		last = off;
	}
	/* What does not fill a batch has the same variance. */
	const double whole = (double)window->count / (double)(count * slots);

	return (struct batches){
		.variance = squares * whole * (double)count / (double)(count - 1),
		.next = squares > 0 ? products / squares : 0,
		.count = count,
	};
}

/* The shortest batches that say nothing of the next one. */
static struct batches choose(const struct window *window)
{
	struct batches batches = batches_of(window, 1);

	for (size_t slots = 2; window->count / slots >= BATCHES_MIN; slots *= 2) {
		if (fabs(batches.next) * sqrt((double)batches.count) < 1.5)
			return batches;
		batches = batches_of(window, slots);
	}
	/* The longest still do: as of a process whose memory fades. */
	if (batches.next > 0)
		batches.variance *= (1 + batches.next) / (1 - fmin(batches.next, 0.5));
	return batches;
}

double repetition_of(const float *part, const float *whole, size_t count, double weight)
{
	const struct window window = window_of(part, whole, count);
	double sum = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		sum += (double)part[i];
		all += (double)whole[i];
	}
	const double of_chance = weight * sum * (all > sum ? 1 - sum / all : 0);

	if (of_chance <= 0 || window.count < BATCHES_MIN)
		return 1;
	const struct batches batches = choose(&window);
	const double wider = statistics_t_95((double)batches.count - 1) / 1.96;
	const double factor = batches.variance * wider * wider / of_chance;

	if (factor < 1 && sum < SAMPLES_FEW * weight)
		return 1;
	return factor < LEAST ? LEAST : factor;
}
