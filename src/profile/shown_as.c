#include "profile/shown_as.h"

#include <string.h>

#define DOTS "…"

/*
 * Whether the pieces between dots occur in the name in this order, the first at its beginning.
 */
static bool fits_from(const char *name, const char *shown)
{
	for (;;) {
		const char *dots = strstr(shown, DOTS);
		const size_t len = dots ? (size_t)(dots - shown) : strlen(shown);

		if (strncmp(name, shown, len) != 0)
			return false;
		name += len;
		if (!dots)
			return *name == '\0' || strchr("(<[", *name);
		shown = dots + strlen(DOTS);
		if (*shown == '\0')
			return true;
		const size_t next = strcspn(shown, "\xe2"); /* the first byte of DOTS */
		const char *at = memmem(name, strlen(name), shown, next);

		/* The last piece must be at the end, the others as early as possible. */
		if (at && shown[next] == '\0')
			for (const char *later = at; later;
			     later = memmem(later + 1, strlen(later + 1), shown, next))
				at = later[next] == '\0' || strchr("(<[", later[next]) ? later
										       : at;
		if (!at)
			return false;
		name = at;
	}
}

bool shown_as(const char *name, const char *shown)
{
	const bool begins_with_dots = strncmp(shown, DOTS, strlen(DOTS)) == 0;

	if (!strstr(shown, DOTS))
		return false;
	if (fits_from(name, shown))
		return true;
	/* Or after a return type. */
	for (const char *at = strchr(name, ' '); at && !begins_with_dots;
	     at = strchr(at + 1, ' ')) {
		if (fits_from(at + 1, shown))
			return true;
	}
	return false;
}
