/*
 * Stores samples in batches, within which times are relative to the first sample's and take
 * four bytes. Each interval also gets sums, so that a report on a long recording need not read
 * every sample.
 */
#include "record/store.h"

/* Limit on distinct sums kept in memory: about 100 MB. */
#define SUMS_LIMIT    (1u << 20)
#define BATCH_SAMPLES 16384

static void add_to_interval(struct store *store, const struct recording_sample *sample,
			    int64_t id)
{
	struct store_interval *interval = &store->interval;

	if (interval->sums.samples == 0) {
		interval->first_sample = id;
		interval->from_ns = interval->to_ns = sample->time_ns;
	}
	if (sample->time_ns < interval->from_ns)
		interval->from_ns = sample->time_ns;
	if (sample->time_ns > interval->to_ns)
		interval->to_ns = sample->time_ns;
	interval->sums.endings[sample->ending]++;
	sums_add(&interval->sums, &(struct recording_sum){ .thread = sample->thread,
							   .stack = sample->stack,
							   .state = sample->state,
							   .weight_ns = sample->weight_ns,
							   .samples = 1 });
}

static void begin_batch(struct store *store, int64_t base_ns)
{
	store_row(store, TABLE_BATCHES, store->last_sample + 1, &base_ns, 1);
	store->batch_base_ns = base_ns;
	store->batch_left = BATCH_SAMPLES;
}

void store_sample(struct store *store, const struct recording_sample *sample, uint32_t how,
		  bool has_usual_weight)
{
	if (store->batch_left == 0)
		begin_batch(store, sample->time_ns);
	store->batch_left--;
	const int64_t values[] = {
		sample->time_ns - store->batch_base_ns,
		sample->thread,
		sample->stack,
		has_usual_weight ? RECORDING_UNKNOWN : sample->weight_ns,
		how,
	};
	const int64_t id = ++store->last_sample;

	store_row(store, TABLE_SAMPLE_ROWS, id, values, 5);
	add_to_interval(store, sample, id);
	if (store->interval.sums.count >= SUMS_LIMIT) {
		store_end_interval(store, STORE_LAST_INTERVAL_RATIO);
		/* Too many: readers sum these samples themselves. */
		sums_clear(&store->interval.sums);
	}
}

static void write_sums(struct store *store)
{
	const struct sums *sums = &store->interval.sums;

	for (size_t i = 0; i < sums->count; i++) {
		const struct recording_sum *sum = &sums->rows[i];
		const int64_t values[] = {
			store->last_interval, sum->thread,    sum->stack,
			sum->state,           sum->weight_ns, (int64_t)sum->samples,
		};

		store_row(store, TABLE_SUMS, ++store->last_sum, values, 6);
	}
}

static void write_endings(struct store *store)
{
	for (uint32_t ending = 0; ending < SUMS_ENDINGS; ending++) {
		const uint64_t samples = store->interval.sums.endings[ending];
		const int64_t values[] = { store->last_interval, ending, (int64_t)samples };

		if (samples > 0)
			store_row(store, TABLE_ENDINGS, ++store->last_ending, values, 3);
	}
}

void store_end_interval(struct store *store, uint64_t min_ratio)
{
	struct store_interval *interval = &store->interval;

	if (interval->sums.count == 0 ||
	    interval->sums.samples < min_ratio * interval->sums.count)
		return;
	const int64_t values[] = { interval->first_sample, store->last_sample,
				   interval->from_ns, interval->to_ns };

	store_row(store, TABLE_INTERVALS, ++store->last_interval, values, 4);
	write_sums(store);
	write_endings(store);
	sums_clear(&interval->sums);
}
