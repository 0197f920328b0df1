#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Concatenates parts into err, cut at a whole character if they are too long. */
static void error_put(struct error *err, const char *const *parts)
{
	size_t len = 0;
	char text[sizeof err->text];

	for (size_t i = 0; parts[i]; i++) {
		size_t part_len = strnlen(parts[i], sizeof text - 1 - len);

		memcpy(text + len, parts[i], part_len);
		len += part_len;
		if (parts[i][part_len])
			len = utf8_cut(text, len);
	}
	text[len] = '\0';
	memcpy(err->text, text, len + 1);
}

int error_set(struct error *err, int rc, const char *format, ...)
{
	char text[sizeof err->text + 1];
	va_list args;

	if (!err)
		return rc;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	error_put(err, (const char *const[]){ text, NULL });
	return rc;
}

int error_wrap(struct error *err, int rc, const char *format, ...)
{
	char context[sizeof err->text + 1];
	va_list args;

	if (!err)
		return rc;
	va_start(args, format);
	vsnprintf(context, sizeof context, format, args);
	va_end(args);
	error_put(err, (const char *const[]){ context, ": ", err->text, NULL });
	return rc;
}

int error_errno(struct error *err, int rc, const char *format, ...)
{
	char text[sizeof err->text + 1], reason[128];
	va_list args;

	if (!err)
		return rc;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	error_put(err, (const char *const[]){ text, ": ",
					      strerror_r(-rc, reason, sizeof reason), NULL });
	return rc;
}
