/* random - a number that cannot be foreseen, and many made of one. */
#pragma once
#include <stdint.h>

/* A random number: the same one in each call within a process; never 0. */
uint64_t random_drawn(void);
/* Each bit of the result depends on all of n: those of consecutive numbers look random. */
uint64_t random_mixed(uint64_t n);
