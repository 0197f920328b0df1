/*
 * The input is a symbol's name.  Whatever it is, there is an answer, and not a huge one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intern strings = { 0 };
	char *name = xstrndup((const char *)data, size);
	const char *answer = demangle(&strings, name);

	if (!answer || (strlen(answer) > 65536 && strlen(answer) > size))
		abort();
	free(name);
	intern_done(&strings);
	return 0;
}
