/*
 * uniform - random numbers for simulations, the same in each run: xorshift64 of a fixed seed.
 */
#pragma once
#include <stdint.h>

static uint64_t uniform_state = 88172645463325252U;

/* 0 up to 1. */
static inline double uniform(void)
{
	uniform_state ^= uniform_state << 13;
	uniform_state ^= uniform_state >> 7;
	uniform_state ^= uniform_state << 17;
	return (double)(uniform_state >> 11) / 9007199254740992.0;
}
