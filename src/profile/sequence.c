#include "profile/sequence.h"

#include "base/memory.h"

enum { BINS = 4096 };

void sequence_add(struct sequence *sequence, uint32_t weight, int64_t time_ns, uint64_t ns)
{
	sequence->rows = array_grow(sequence->rows, sequence->count, &sequence->capacity,
				    sizeof *sequence->rows);
	sequence->times = array_grow(sequence->times, sequence->count, &sequence->time_capacity,
				     sizeof *sequence->times);
	sequence->times[sequence->count] = time_ns;
	sequence->rows[sequence->count++] = (struct step){ .weight = weight, .ns = (float)ns };
}

struct span {
	int64_t first;
	double length;
};

static struct span span_of(const struct sequence *sequence)
{
	int64_t first = sequence->times[0], last = first;

	for (size_t i = 1; i < sequence->count; i++) {
		first = sequence->times[i] < first ? sequence->times[i] : first;
		last = sequence->times[i] > last ? sequence->times[i] : last;
	}
	return (struct span){ first, (double)last - (double)first + 1 };
}

static size_t bin_of(const struct span *span, int64_t time)
{
	const double at = ((double)time - (double)span->first) / span->length * BINS;

	return at < BINS ? (size_t)at : BINS - 1;
}

/*
 * Slots of equal sampled time: a bin's slot is the part of all time before it, in units of a
 * slot.
 */
static void find_slots(const struct sequence *sequence, const struct span *span,
		       uint32_t *slots)
{
	double in_bin[BINS] = { 0 };
	double sum = 0, before = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		in_bin[bin_of(span, sequence->times[i])] += (double)sequence->rows[i].ns;
		sum += (double)sequence->rows[i].ns;
	}
	for (size_t i = 0; i < BINS; i++) {
		const double middle = (before + in_bin[i] / 2) / (sum > 0 ? sum : 1);

		slots[i] = (uint32_t)(middle * SERIES_SLOTS);
		slots[i] = slots[i] < SERIES_SLOTS ? slots[i] : SERIES_SLOTS - 1;
		before += in_bin[i];
	}
}

/* Merges neighbouring rows of the same weight and slot. */
static void merge(struct sequence *sequence)
{
	size_t kept = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		struct step *last = kept > 0 ? &sequence->rows[kept - 1] : NULL;
		const struct step *row = &sequence->rows[i];

		if (last && last->weight == row->weight && last->slot == row->slot)
			last->ns += row->ns;
		else
			sequence->rows[kept++] = *row;
	}
	sequence->count = kept;
}

void sequence_close(struct sequence *sequence)
{
	uint32_t slots[BINS];

	if (sequence->count > 0 && sequence->times) {
		const struct span span = span_of(sequence);

		find_slots(sequence, &span, slots);
		for (size_t i = 0; i < sequence->count; i++)
			sequence->rows[i].slot = slots[bin_of(&span, sequence->times[i])];
		merge(sequence);
	}
	freep(&sequence->times);
	sequence->times = NULL;
	sequence->time_capacity = 0;
}

void sequence_done(struct sequence *sequence)
{
	freep(&sequence->rows);
	freep(&sequence->times);
	*sequence = (struct sequence){ 0 };
}
