/*
 * library - a shared library with one function, built under several names: the
 * code lies at the same offset in each, so only the mapping distinguishes them.
 */
#include "truth.h"

KEEP uint64_t LIBRARY_FUNCTION(uint64_t n);

KEEP uint64_t LIBRARY_FUNCTION(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
