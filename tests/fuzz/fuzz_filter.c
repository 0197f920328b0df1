/*
 * The input is a system call with its arguments, and a seccomp filter, whatever it has.  What is
 * answered of a call of which no argument is known is at least as strict as what is answered of
 * that call with them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filter_call call = { 0 };
	struct filter_step steps[FILTER_STEPS_MAX];
	size_t count;

	if (size < sizeof call)
		return 0;
	memcpy(&call, data, sizeof call);
	count = (size - sizeof call) / sizeof steps[0];
	if (count > FILTER_STEPS_MAX)
		count = FILTER_STEPS_MAX;
	memcpy(steps, data + sizeof call, count * sizeof steps[0]);

	call.known = 0x3f;
	const u32 with = filter_answer(steps, (u32)count, &call);

	call.known = 0;
	const u32 without = filter_answer(steps, (u32)count, &call);

	if ((s32)without > (s32)with)
		abort();
	return 0;
}
