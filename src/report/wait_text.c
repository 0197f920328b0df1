#include "report/wait_text.h"

#include <string.h>

#include "base/text.h"

bool wait_text_add(struct text *out, const char *call)
{
	const char *futex = "futex(";
	const char *open = strchr(call, '(');
	const size_t inner = open ? strlen(open) - 1 : 0;
	/* Sleeps between tries to take a lock. */
	const bool is_lock = open && strncmp(open, "(Lock of ", strlen("(Lock of ")) == 0;

	if ((strstr(call, "nanosleep") && !is_lock) || (open && strcmp(open, "(sleep)") == 0)) {
		text_add(out, "sleep");
		return false;
	}
	if (inner > 1 &&
	    (is_lock || strncmp(call, futex, strlen(futex)) == 0 || strstr(open, " at "))) {
		text_add_bytes(out, open + 1, inner - 1);
		return true;
	}
	text_add(out, call);
	return false;
}
