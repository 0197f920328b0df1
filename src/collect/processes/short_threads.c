#include "collect/processes/short_threads.h"

#include <unistd.h>

/* A thread that lives longer costs its creator few of its samples. */
#define YOUNG_LIFE_PERIODS 32
#define YOUNG_CPU_PERIODS  8
/*
 * Each costs its creator half a period on average: fewer in a second cost below 1 % at 1 kHz.
 */
#define ENDS_IN_WINDOW 16
#define WINDOW_NS      1000000000ULL
/* The event stays open in a program that creates threads now and then. */
#define EXPIRY_NS 5000000000ULL

static struct short_threads_creator *find(struct short_threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->count; i++) {
		if (threads->creators[i].tid == tid)
			return &threads->creators[i];
	}
	return NULL;
}

static void creator_close(struct short_threads_creator *creator)
{
	if (creator->fd >= 0)
		close(creator->fd);
	creator->fd = -1;
}

/* The creator's place: its own, a free one, or the first without an event; NULL: none. */
static struct short_threads_creator *place_for(struct short_threads *threads, pid_t tid)
{
	struct short_threads_creator *place = find(threads, tid);

	if (place != NULL)
		return place;
	place = find(threads, 0);
	if (place == NULL && threads->count < SHORT_THREADS_CREATORS)
		place = &threads->creators[threads->count++];
	for (size_t i = 0; place == NULL && i < threads->count; i++) {
		if (threads->creators[i].fd < 0)
			place = &threads->creators[i];
	}
	if (place != NULL)
		*place = (struct short_threads_creator){ .tid = tid, .fd = -1 };
	return place;
}

bool short_threads_take_end(struct short_threads *threads,
			    const struct short_threads_life *life, int (*open_on)(pid_t tid))
{
	if (life->creator <= 0 || life->life_ns >= YOUNG_LIFE_PERIODS * life->period_ns ||
	    life->cpu_ns >= YOUNG_CPU_PERIODS * life->period_ns)
		return false;
	struct short_threads_creator *creator = place_for(threads, life->creator);

	if (creator == NULL)
		return true;
	creator->last_ns = life->end_ns;
	if (creator->fd >= 0)
		return true;
	if (creator->ends == 0 || life->end_ns - creator->window_ns > WINDOW_NS) {
		creator->window_ns = life->end_ns;
		creator->ends = 0;
	}
	if (++creator->ends < ENDS_IN_WINDOW)
		return true;
	/* An event that is refused is tried again after as many ends. */
	creator->ends = 0;
	creator->fd = open_on(creator->tid);
	return true;
}

void short_threads_forget(struct short_threads *threads, pid_t tid)
{
	struct short_threads_creator *creator = find(threads, tid);

	if (tid <= 0 || creator == NULL)
		return;
	creator_close(creator);
	creator->tid = 0;
}

uint32_t short_threads_event_tid(const struct short_threads *threads, size_t place)
{
	const struct short_threads_creator *creator = &threads->creators[place];

	return creator->fd >= 0 ? (uint32_t)creator->tid : 0;
}

void short_threads_expire(struct short_threads *threads, uint64_t now_ns)
{
	for (size_t i = 0; i < threads->count; i++) {
		struct short_threads_creator *creator = &threads->creators[i];

		if (creator->fd >= 0 && now_ns > creator->last_ns &&
		    now_ns - creator->last_ns > EXPIRY_NS)
			creator_close(creator);
	}
}

void short_threads_close(struct short_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		creator_close(&threads->creators[i]);
	threads->count = 0;
}
