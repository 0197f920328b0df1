#include "agent/trace/processor_speed.h"

#include <stdint.h>

#include "abi/ticks.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"

/* Turns of work() and jump() in the longer of two bursts that are compared, and in the shorter. */
#define LONG_WORK   60U
#define LONG_JUMPS  450U
#define SHORT_WORK  10U
#define SHORT_JUMPS 50U
#define TRIES       3U /* the median is used */
/* Warm-up after other code: then a burst takes as long as in a series of bursts. */
#define COLD_TRIES 10U
#define WORDS      64U /* a power of two */
/* About 4 ms; a measurement takes 3 µs. */
#define INTERVAL_TICKS (10ULL << 20)

/* Their content does not matter, nor that several threads write them. */
static u64 read_words[WORDS], written_words[WORDS];

static inline u64 word_at(u64 i)
{
	return __atomic_load_n(&read_words[i % WORDS], __ATOMIC_RELAXED);
}

static inline void set_word(u64 i, u64 word)
{
	__atomic_store_n(&written_words[i % WORDS], word, __ATOMIC_RELAXED);
}

/*
 * Independent chains in registers and in the nearest cache.  Nothing that a branch predictor would
 * have to learn again after other code, except the end of the loop: no other branch, and no word is
 * read soon after it is written.
 */
static void work(u64 turns)
{
	u64 a = 1, b = 3, c = 5, d = 7;

	for (u64 i = 0; i < turns; i++) {
		a += word_at(i);
		b = b * 5 + 1;
		c ^= c << 3;
		c += i;
		d += word_at(i * 7);
		set_word(i, c + d);
		set_word(i * 3, a);
		d ^= b;
		a -= c >> 5;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
}

/*
 * Little but jumps.  With some neighbours on its core a thread gets half the jumps but all that
 * work() needs; interpreted code and hooks lie between the two.
 */
static void jump(u64 turns)
{
	u64 sum = 0;

	for (u64 i = 0; i < turns; i++) {
		sum += word_at(i);
		__asm__ volatile("" : "+r"(sum));
	}
}

static __attribute__((noinline)) u64 burst(u64 work_turns, u64 jumps)
{
	const u64 start = ticks_now();

	work(work_turns);
	jump(jumps);
	return ticks_now() - start;
}

static u64 median(const u64 *tries)
{
	const u64 a = tries[0], b = tries[1], c = tries[2];
	const u64 least = a < b ? a : b, most = a < b ? b : a;

	return c < least ? least : c > most ? most : c;
}

u32 trace_speed_measure(void)
{
	u64 longer[TRIES], shorter[TRIES];

	for (u32 i = 0; i < TRIES; i++) {
		longer[i] = burst(LONG_WORK, LONG_JUMPS);
		shorter[i] = burst(SHORT_WORK, SHORT_JUMPS);
	}
	const u64 of_longer = median(longer), of_shorter = median(shorter);

	return of_longer > of_shorter ? (u32)(of_longer - of_shorter) : 0;
}

static u32 measure_cold(void)
{
	for (u32 i = 0; i < COLD_TRIES; i++) {
		burst(LONG_WORK, LONG_JUMPS);
		burst(SHORT_WORK, SHORT_JUMPS);
	}
	return trace_speed_measure();
}

void trace_speed_look(struct call_stack *calls)
{
	struct trace_area *area = calls->area;

	calls->speed_due = calls->last_ticks + INTERVAL_TICKS;
	if (trace_clock.is_frozen)
		return;
	__atomic_fetch_add(&area->burst_ticks, measure_cold(), __ATOMIC_RELAXED);
	__atomic_fetch_add(&area->burst_count, 1, __ATOMIC_RELAXED);
}
