#include "agent/trace/native/loops.h"

#ifndef NAME
#define NAME trace_native_loop_instrumented
#endif

#define UNTRACED __attribute__((no_instrument_function))
/* Keeps the compiler from optimising a call by what it knows of the callee. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

UNTRACED static inline __attribute__((always_inline)) u64 work_for(u64 value, u32 steps)
{
	for (u32 i = 0; i < steps; i++) {
		value = value * 5 + 1;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

UNTRACED static inline __attribute__((always_inline)) u64 work(u64 value)
{
	return work_for(value, 8);
}

/* Each step depends on the last, so the processor has time to execute hooks in parallel. */
UNTRACED static inline __attribute__((always_inline)) u64 long_work(u64 value)
{
	return work_for(value, 64);
}

/* The functions are defined twice, with hooks and without. */
#define FUNCTIONS(copy, traced)                                   \
	ALONE traced static void copy##_empty(void)               \
	{                                                         \
		__asm__ volatile("");                             \
	}                                                         \
	ALONE traced static u64 copy##_argument(u64 value)        \
	{                                                         \
		__asm__ volatile("" : "+r"(value));               \
		return value;                                     \
	}                                                         \
	ALONE traced static u64 copy##_work(u64 value)            \
	{                                                         \
		return work(value);                               \
	}                                                         \
	ALONE traced static u64 copy##_long(u64 value)            \
	{                                                         \
		return long_work(value);                          \
	}                                                         \
	ALONE traced static u64 copy##_nested(u64 value)          \
	{                                                         \
		return copy##_argument(value) + 1;                \
	}                                                         \
	ALONE traced static u64 copy##_loop(u32 loop, u32 turns)  \
	{                                                         \
		u64 value = 1;                                    \
                                                                  \
		for (u32 i = 0; i < turns; i++) {                 \
			__asm__ volatile("" : "+r"(value));       \
			if (loop == NATIVE_LOOP_WORK_INLINE)      \
				value = work(value);              \
			else if (loop == NATIVE_LOOP_WORK)        \
				value = copy##_work(value);       \
			else if (loop == NATIVE_LOOP_LONG_INLINE) \
				value = long_work(value);         \
			else if (loop == NATIVE_LOOP_LONG)        \
				value = copy##_long(value);       \
			else if (loop == NATIVE_LOOP_NESTED)      \
				value = copy##_nested(value);     \
			else if (loop == NATIVE_LOOP_EMPTY)       \
				copy##_empty();                   \
		}                                                 \
		return value;                                     \
	}
FUNCTIONS(plain, UNTRACED)
FUNCTIONS(hooked, )

__attribute__((visibility("hidden"))) UNTRACED void NAME(u32 loop, u32 turns, bool has_hooks)
{
	u64 value = has_hooks ? hooked_loop(loop, turns) : plain_loop(loop, turns);

	__asm__ volatile("" : "+r"(value));
}
