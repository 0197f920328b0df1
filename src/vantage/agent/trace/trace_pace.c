#include "vantage/agent/trace/trace_pace.h"

#include <stdint.h>

#include "abi/ticks.h"
#include "vantage/agent/trace/trace.h"

#define WORK_TURNS 100U
#define JUMP_TURNS 200U
#define TRIES      3U
#define WORDS      64U /* a power of two */
/* About 4 ms, of which all tries take 1 µs. */
#define INTERVAL_TICKS (10ULL << 20)

/* What is in them does not matter, nor who else writes them. */
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
 * Chains that do not wait for each other, in registers and in the nearest cache.  Nothing that a
 * predictor would have to learn again after other code: no branch but the loop's, no word that is
 * read soon after it is written.
 */
static void work(void)
{
	u64 a = 1, b = 3, c = 5, d = 7;

	for (u64 i = 0; i < WORK_TURNS; i++) {
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
 * Little but jumps.  Beside some neighbours a core has half as many of them to give, and all that
 * is in work(): what is interpreted, and hooks, lie between the two.
 */
static void jump(void)
{
	u64 sum = 0;

	for (u64 i = 0; i < JUMP_TURNS; i++) {
		sum += word_at(i);
		__asm__ volatile("" : "+r"(sum));
	}
}

u32 trace_pace_measure(void)
{
	u64 least = UINT32_MAX;

	for (u32 i = 0; i < TRIES; i++) {
		const u64 start = ticks_now();

		work();
		jump();
		const u64 ticks = ticks_now() - start;

		least = ticks < least ? ticks : least;
	}
	return (u32)least;
}

void trace_pace_look(struct tracer *tracer)
{
	struct trace_area *area = tracer->area;

	tracer->pace_due = tracer->last_ticks + INTERVAL_TICKS;
	if (trace_clock.is_frozen)
		return;
	__atomic_fetch_add(&area->pace_ticks, trace_pace_measure(), __ATOMIC_RELAXED);
	__atomic_fetch_add(&area->pace_count, 1, __ATOMIC_RELAXED);
}
