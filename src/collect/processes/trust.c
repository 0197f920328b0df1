#include "collect/processes/trust.h"

#include <sys/sysinfo.h>

#include "base/monotonic.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"

#define NS_PER_MS 1000000ULL
/*
 * Tolerance, besides two periods, for differences between the agent's clocks and the kernel's;
 * none for an agent that wrote something impossible.
 */
#define SLACK_NS   (NS_PER_MS / 5)
#define SLACK_PART 64
/* Events do not count all of each switch between threads (decision 0008). */
#define EVENTS_SLACK_PART 2
/* No agent claims more than this, plus an eighth of the CPU time, too much. */
#define EXCESS_NS   (20 * NS_PER_MS)
#define EXCESS_PART 8
/*
 * Up to so many periods, plus an eighth of the CPU time, may be another process's: at a switch the
 * kernel exchanges the events of a parent and of its child (perf_event_context_sched_out), and with
 * them what is left of a period.  A shell that starts many programs gets some of their traps.
 */
#define EXCHANGED_PERIODS 16
/* Clocks differ in a time namespace, and the thread may have been delayed. */
#define TIME_SLACK_NS (1000 * NS_PER_MS)
/* Counts may rise for a moment before the kernel has counted the CPU time. */
#define COUNT_SLACK 1000

void trust_begin_round(struct image *image)
{
	image->trust.is_fresh = false;
}

void trust_doubt(struct image *image)
{
	image->trust.doubtful++;
}

void trust_lose(struct image *image)
{
	if (image->trust.is_lost)
		return;
	image->trust.is_lost = true;
	image->unentered_reason = "it wrote nonsense into the memory it shares with fathom";
}

static uint64_t paused_ns(const struct image *image)
{
	return image->pause.traced_ns + image->pause.unentered_ns + image->pause.exit_ns;
}

/* The limit without the kernel's figure: all processors, all the time. */
static uint64_t most_since_ns(struct trust *trust, uint64_t since_ns)
{
	const uint64_t now_ns = monotonic_ns();

	if (trust->processors == 0)
		trust->processors = (uint32_t)get_nprocs_conf();
	return now_ns > since_ns ? (now_ns - since_ns) * trust->processors : 0;
}

/* CPU time before its events were opened. */
static uint64_t before_ns(const struct image *image)
{
	return image->opened_cpu_ns > image->cpu_before_ns ? image->opened_cpu_ns
							   : image->cpu_before_ns;
}

static uint64_t events_ns(const struct image *image)
{
	if (image->events.count == 0 || image->opened_cpu_ns == 0)
		return 0;
	return image->opened_cpu_ns + thread_events_read(&image->events) + paused_ns(image);
}

/*
 * Reads the process's CPU time: its clock while it exists, or its events, whichever is ahead
 * (traps follow the events); if it has neither, a limit by wall time.
 */
static void look(struct image *image)
{
	struct trust *trust = &image->trust;
	uint64_t ns = 0;

	if (trust->is_fresh)
		return;
	const uint64_t counted_ns = events_ns(image);

	if (image->state == IMAGE_ENTERED && !image->is_ended)
		ns = cpu_meter_process_ns(image->pid);
	trust->is_by_events = ns == 0 && counted_ns != 0;
	if (counted_ns > ns)
		ns = counted_ns;
	if (ns == 0)
		ns = trust->asked_ns != 0
			     ? trust->burned_ns + most_since_ns(trust, trust->asked_ns)
			     : before_ns(image) + most_since_ns(trust, image->start_ns);
	if (ns > trust->burned_ns)
		trust->burned_ns = ns;
	trust->asked_ns = monotonic_ns();
	trust->is_fresh = true;
}

/* The most CPU time since its events were opened, by the last reading. */
static uint64_t known_most_ns(const struct image *image)
{
	const struct trust *trust = &image->trust;
	const uint64_t own_ns = trust->burned_ns > image->opened_cpu_ns
					? trust->burned_ns - image->opened_cpu_ns
					: 0;

	if (trust->doubtful != 0)
		return own_ns;
	return own_ns + own_ns / (trust->is_by_events ? EVENTS_SLACK_PART : SLACK_PART) +
	       SLACK_NS + 2 * image->period_ns;
}

uint64_t trust_most_ns(struct image *image)
{
	look(image);
	return known_most_ns(image);
}

uint64_t trust_life_ns(const struct image *image)
{
	const uint64_t now_ns = monotonic_ns();

	return now_ns > image->start_ns ? now_ns - image->start_ns : 0;
}

static uint64_t exchanged_most_ns(const struct image *image, uint64_t most_ns)
{
	return EXCHANGED_PERIODS * image->period_ns + most_ns / EXCESS_PART;
}

uint64_t trust_bound_weight(struct image *image, uint64_t weight_ns)
{
	struct trust *trust = &image->trust;
	const uint64_t claimed_ns = image->sampled_ns + image->left_ns + image->off_ns;
	uint64_t most_ns = known_most_ns(image);

	if (most_ns <= claimed_ns || weight_ns > most_ns - claimed_ns)
		most_ns = trust_most_ns(image);
	const uint64_t left_ns = most_ns > claimed_ns ? most_ns - claimed_ns : 0;

	if (weight_ns <= left_ns)
		return weight_ns;
	if (__builtin_add_overflow(trust->excess_ns, weight_ns - left_ns, &trust->excess_ns))
		trust->excess_ns = UINT64_MAX;
	if (trust->doubtful != 0 || trust->excess_ns > exchanged_most_ns(image, most_ns))
		trust_doubt(image);
	if (trust->excess_ns > EXCESS_NS + most_ns / EXCESS_PART)
		trust_lose(image);
	return left_ns < image->period_ns ? left_ns : image->period_ns;
}

uint64_t trust_bound_covered(struct image *image, uint64_t covered_ns)
{
	if (covered_ns <= known_most_ns(image) || covered_ns <= trust_most_ns(image))
		return covered_ns;
	trust_doubt(image);
	return 0;
}

uint64_t trust_bound_time(struct image *image, uint64_t time_ns, uint64_t from_ns,
			  uint64_t to_ns)
{
	if (time_ns >= from_ns && time_ns <= to_ns)
		return time_ns;
	if (time_ns > to_ns ? time_ns - to_ns > TIME_SLACK_NS
			    : from_ns - time_ns > TIME_SLACK_NS)
		trust_doubt(image);
	return time_ns > to_ns ? to_ns : from_ns;
}

uint64_t trust_bound_start(struct image *image, uint64_t start_cpu_ns)
{
	const uint64_t most_ns = trust_most_ns(image) + image->opened_cpu_ns;

	if (start_cpu_ns <= most_ns)
		return start_cpu_ns;
	trust_doubt(image);
	if (start_cpu_ns - most_ns > EXCESS_NS + most_ns / EXCESS_PART)
		trust_lose(image);
	return most_ns;
}

uint64_t trust_bound_count(struct image *image, uint64_t count, uint64_t least_ns)
{
	if (count <= COUNT_SLACK || count - COUNT_SLACK <= trust_most_ns(image) / least_ns)
		return count;
	trust_doubt(image);
	return 0;
}
