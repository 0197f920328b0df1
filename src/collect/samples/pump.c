/*
 * pump - moves records from a ring into the recording.
 *
 * The ring is memory that the target can write: every length, id and address is checked, so
 * that it can falsify no figures but those of its own image.
 */
#include "collect/samples/pump.h"

#include <stdlib.h>
#include <string.h>

#include "abi/ring.h"
#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/events/perf_events.h"
#include "collect/processes/ring_memory.h"
#include "collect/processes/ring_view.h"
#include "collect/stacks/stack_rows.h"
#include "collect/stacks/stacks.h"
#include "collect/processes/trust.h"
#include "collect/wall/wall.h"
#include "record/writer.h"

#define MAX_RECORD_WORDS 0x10000
/*
 * How long a thread that was stopped between reserve and commit may delay the records of
 * others; and how long when the ring gets full.
 */
#define STALL_PATIENCE_NS 10000000000ULL
#define STALL_URGENT_NS   1000000000ULL
/* The time between two checks counts up to this, the usual distance of rounds. */
#define STALL_LOOK_NS 100000000ULL
void pump_init(struct pump *pump, struct recording_writer *writer, uint64_t session_start_ns)
{
	*pump = (struct pump){ .writer = writer, .session_start_ns = session_start_ns };
	pump->record = xreallocarray(NULL, MAX_RECORD_WORDS, sizeof *pump->record);
	stack_rows_init(&pump->rows, writer, session_start_ns);
	pump->unsampled = (struct unsampled_rows){ .codes = &pump->rows.codes,
						   .session_start_ns = session_start_ns };
}

void pump_done(struct pump *pump)
{
	stack_rows_done(&pump->rows);
	free(pump->record);
}

/* Notes the samples that were left out because the disk was too slow. */
void pump_note_left_out(struct pump *pump)
{
	if (pump->unsampled.left_out > 0)
		recording_writer_add_lost(pump->writer, "the disk was too slow",
					  pump->unsampled.left_out);
	pump->unsampled.left_out = 0;
}

void pump_begin_round(struct pump *pump)
{
	if (recording_writer_has_room(pump->writer))
		pump_note_left_out(pump);
	pump->round_ns = pump->unsampled.now_ns = monotonic_ns();
	epochs_begin_round(&pump->rows.epochs);
}

uint64_t pump_mark(const struct image *image)
{
	/* Only limits how far to read; records are checked one by one. */
	return image->ring == NULL ? 0 : ring_view_head(image);
}

static void pump_take_stack(struct pump *pump, const struct image *image, const uint64_t *words,
			    uint64_t count)
{
	if (count < RING_WORDS(struct ring_stack))
		return;
	stacks_add(&pump->rows.epochs, image->row, words[1],
		   words + RING_WORDS(struct ring_stack),
		   count - RING_WORDS(struct ring_stack));
}

static void pump_bound_sample(const struct pump *pump, struct image *image,
			      struct ring_sample *sample)
{
	sample->time_ns =
		trust_bound_time(image, sample->time_ns, pump->session_start_ns, pump->now_ns);
	sample->weight_ns = trust_bound_weight(image, sample->weight_ns);
	sample->covered_ns = trust_bound_covered(image, sample->covered_ns);
}

/* Books the CPU time of an ending thread since its last sample, on its start function. */
static void pump_take_end(struct pump *pump, struct image *image, struct image_thread *thread,
			  const struct ring_sample *sample)
{
	const uint32_t era = mappings_era(image->mappings, sample->time_ns);
	struct unsampled time = { .kind = UNSAMPLED_SHORT,
				  .time_ns = sample->time_ns,
				  .ns = sample->weight_ns };

	if (sample->leaf != 0) {
		const struct recording_frame start =
			stack_rows_place(&pump->rows, image, sample->leaf, era);

		time.callers = stack_rows_add(&pump->rows, 0, &start);
	}
	image->ends_booked += !thread->is_end_booked;
	thread->is_end_booked = true;
	image->sampled_ns += sample->weight_ns;
	unsampled_add(&pump->unsampled, thread, &time);
	if (thread->has_ended_young || !image->has_sampling_events)
		return;
	/*
	 * By its CPU time alone: it may have lived long and run briefly, since it slept or the
	 * machine was busy.
	 */
	thread->has_ended_young = short_threads_take_end(&image->short_threads,
							 &(struct short_threads_life){
								 .creator = thread->creator,
								 .end_ns = sample->time_ns,
								 .cpu_ns = thread->covered_ns,
								 .period_ns = image->period_ns,
							 },
							 perf_open_unshared);
}

/* Whether samples stand for all covered time, as they do if system time is sampled, too. */
static bool pump_covers_all(const struct image *image)
{
	return image->has_kernel_samples || (image->ring_fixed.flags & RING_TIMER) != 0;
}

/*
 * Books the CPU time that the thread has used beyond what its sample stands for, or that lost
 * samples stood for.
 */
static void pump_take_left(struct pump *pump, struct image *image,
			   const struct image_thread *thread, const struct ring_sample *sample,
			   uint64_t before_ns)
{
	const uint64_t gone_ns = thread->covered_ns - before_ns;
	const bool is_lost = (sample->flags & RING_SAMPLE_BEHIND_LOST) != 0;

	if (!pump_covers_all(image) || gone_ns <= sample->weight_ns)
		return;
	const uint64_t left_ns = trust_bound_weight(image, gone_ns - sample->weight_ns);

	image->left_ns += left_ns;
	image->lost_ns += is_lost ? left_ns : 0;
	unsampled_add(&pump->unsampled, thread,
		      &(struct unsampled){
			      .kind = is_lost ? UNSAMPLED_LOST : UNSAMPLED_LEFT,
			      .time_ns = sample->time_ns,
			      .ns = left_ns,
		      });
}

static void pump_take_sample(struct pump *pump, struct image *image, const uint64_t *words,
			     uint64_t count)
{
	struct ring_sample sample;

	if (count != RING_WORDS(struct ring_sample))
		return;
	memcpy(&sample, words, sizeof sample);
	pump_bound_sample(pump, image, &sample);
	struct image_thread *thread =
		image_thread_claimed(image, sample.tid, sample.time_ns, pump->writer);
	const uint64_t before_ns = thread->covered_ns;

	if (sample.covered_ns > thread->covered_ns)
		thread->covered_ns = sample.covered_ns;
	pump_take_left(pump, image, thread, &sample, before_ns);
	if (sample.flags & RING_SAMPLE_PAUSED) {
		image->off_ns += sample.weight_ns;
		return;
	}
	if (sample.flags & RING_SAMPLE_END) {
		pump_take_end(pump, image, thread, &sample);
		return;
	}
	if (!recording_writer_has_room(pump->writer)) {
		pump->unsampled.left_out++;
		thread->left_out_ns += sample.weight_ns;
		return;
	}
	unsampled_add_left_out(&pump->unsampled, image, thread, sample.time_ns);
	uint32_t ending = sample.ending < WALK_STATUS_COUNT ? sample.ending : WALK_NO_STACK;
	const uint32_t stack = stack_rows_of_sample(&pump->rows, image, &sample, &ending);

	image->samples++;
	image->sampled_ns += sample.weight_ns;
	pump->samples++;
	recording_writer_add_sample(
		pump->writer,
		&(struct recording_sample){
			.time_ns = (int64_t)(sample.time_ns - pump->session_start_ns),
			.thread = thread->row,
			.stack = stack,
			.ending = ending,
			.weight_ns =
				(int64_t)wall_claim(pump->wall, thread->row, sample.weight_ns),
		});
}

/* This record comes before the thread's first sample. */
static void pump_take_thread_name(struct pump *pump, struct image *image, const uint64_t *words,
				  uint64_t count)
{
	struct ring_thread named;

	if (count < RING_WORDS(struct ring_thread))
		return;
	memcpy(&named, words, sizeof named);
	const size_t room = (size_t)(count - RING_WORDS(struct ring_thread)) * sizeof *words;

	if (named.length == 0 || named.length > room || named.length > RING_THREAD_NAME_MAX)
		return;
	struct image_thread *thread = image_thread_claimed(
		image, named.tid,
		trust_bound_time(image, named.time_ns, pump->session_start_ns, pump->now_ns),
		pump->writer);

	if (thread->tid != (int)named.tid)
		return;
	image_thread_name(image, thread, (const char *)(words + RING_WORDS(struct ring_thread)),
			  named.length);
}

static void pump_take(struct pump *pump, struct image *image, const uint64_t *words,
		      uint64_t count)
{
	switch (words[0] >> 16 & 0xff) {
	case RING_SAMPLE:
		pump_take_sample(pump, image, words, count);
		return;
	case RING_STACK:
		pump_take_stack(pump, image, words, count);
		return;
	case RING_CODE:
		codes_take(&pump->rows.codes, &pump->rows.epochs, image->row, words, count);
		return;
	case RING_THREAD:
		pump_take_thread_name(pump, image, words, count);
		return;
	case RING_IMAGE:
	case RING_FLUSH:
		if (count > 1 && pump->maps_changed != NULL)
			pump->maps_changed(pump->context, image,
					   trust_bound_time(image, words[1],
							    pump->session_start_ns,
							    pump->now_ns));
		return;
	default: /* a newer agent's: skipped by its length */
		return;
	}
}

/*
 * Where the next committed record begins after one that will never be committed; mark if there
 * is none.
 */
static uint64_t pump_skip(const struct pump *pump, const struct image *image, uint64_t position,
			  uint64_t mark)
{
	while (++position < mark) {
		if (ring_view_peek(image, position, mark, pump->record, MAX_RECORD_WORDS) != 0)
			break;
	}
	return position;
}

/*
 * Whether to wait for the record at the tail, rather than give it up.  Its writer may have been
 * preempted, or the process been stopped (control-Z, a debugger), or the machine: so only time
 * counts in which others have written after it, or in which the ring is getting full.
 */
static bool pump_waits(const struct pump *pump, struct image *image, uint64_t position,
		       uint64_t mark, int is_last)
{
	const uint64_t since_ns = pump->round_ns - image->stall_seen_ns;
	const bool is_urgent = mark - position > image->ring_words / 2;

	if (is_last)
		return false;
	if (image->stall_mark == 0)
		image->stall_ns = 0;
	else if (mark != image->stall_mark || is_urgent)
		image->stall_ns += since_ns < STALL_LOOK_NS ? since_ns : STALL_LOOK_NS;
	image->stall_mark = mark;
	image->stall_seen_ns = pump->round_ns;
	return image->stall_ns < (is_urgent ? STALL_URGENT_NS : STALL_PATIENCE_NS);
}

static void pump_note_lost(struct pump *pump, struct image *image)
{
	const uint64_t lost = ring_view_lost(image);

	if (lost <= image->lost_noted)
		return;
	recording_writer_add_lost(pump->writer,
				  "the ring between program and recorder was full",
				  lost - image->lost_noted);
	image->lost_noted = lost;
}

/*
 * Takes the records up to the mark, or to one that is not committed; returns how far that is.
 */
static uint64_t pump_records(struct pump *pump, struct image *image, uint64_t mark, int is_last)
{
	uint64_t position = image->ring_tail;

	while (position < mark && !image->trust.is_lost) {
		const uint64_t count =
			ring_view_peek(image, position, mark, pump->record, MAX_RECORD_WORDS);

		if (count != 0) {
			pump_take(pump, image, pump->record, count);
			position += count;
			image->stall_mark = 0;
		} else if (pump_waits(pump, image, position, mark, is_last)) {
			break;
		} else {
			position = pump_skip(pump, image, position, mark);
			image->stall_mark = 0;
			recording_writer_add_lost(pump->writer,
						  "a thread ended in the midst of writing", 1);
		}
	}
	return position;
}

unsigned int pump_image(struct pump *pump, struct image *image, uint64_t mark, int is_last)
{
	if (image->ring == NULL)
		return 0;
	trust_begin_round(image);
	/* No agent writes such a head, or changes the recorder's fields. */
	if (mark < image->ring_tail || mark - image->ring_tail > image->ring_words ||
	    !ring_view_is_whole(image))
		trust_lose(image);
	const uint64_t used = image->trust.is_lost ? 0 : mark - image->ring_tail;

	if (!image->trust.is_lost) {
		/*
		 * Each image has its own epochs: a forked child must send again what its parent
		 * has sent.
		 */
		ring_view_set_epoch(image, image->epoch_base ^
						   ((uint64_t)pump->rows.epochs.number << 32 |
						    image->serial));
		pump->now_ns = monotonic_ns();
		image->ring_tail = pump_records(pump, image, mark, is_last);
		ring_view_give_back(image);
		pump_note_lost(pump, image);
	}
	if (image->trust.is_lost || image->ring_tail == mark)
		image_forget_past(image, pump->round_ns, pump->session_start_ns, pump->writer);
	return (unsigned int)(used * 100 / image->ring_words);
}
