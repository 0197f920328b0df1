/* plt_library - a function so small that calling it costs as much as it does. */
#include "truth.h"

KEEP uint64_t plt_callee(uint64_t x);

KEEP uint64_t plt_callee(uint64_t x)
{
	return x * 3 + 1;
}
