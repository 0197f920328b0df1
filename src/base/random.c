#include "base/random.h"

#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

uint64_t random_drawn(void)
{
	static uint64_t number;

	if (number == 0 && getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
		number = (uint64_t)getpid();
	number |= number == 0;
	return number;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
uint64_t random_mixed(uint64_t n)
{
	n *= 0x9e3779b97f4a7c15ULL;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ n >> 27) * 0x94d049bb133111ebULL;
	return n ^ n >> 31;
}
