#include "doctor/checks.h"

#include <stdlib.h>

#include "base/memory.h"

void checks_add(struct checks *checks, const char *group, const char *name,
		enum check_verdict verdict, const char *format, ...)
{
	va_list args;

	checks->rows = array_grow(checks->rows, checks->count, &checks->capacity,
				  sizeof *checks->rows);
	struct check *check = &checks->rows[checks->count++];

	*check = (struct check){ .group = group, .name = xstrdup(name), .verdict = verdict };
	va_start(args, format);
	check->text = xvasprintf(format, args);
	va_end(args);
}

void checks_add_remedy(struct checks *checks, const char *format, ...)
{
	struct check *check = &checks->rows[checks->count - 1];
	va_list args;

	free(check->remedy);
	va_start(args, format);
	check->remedy = xvasprintf(format, args);
	va_end(args);
}

bool checks_have_wrong(const struct checks *checks)
{
	for (size_t i = 0; i < checks->count; i++) {
		if (checks->rows[i].verdict == CHECK_WRONG)
			return true;
	}
	return false;
}

const char *check_verdict_name(enum check_verdict verdict)
{
	static const char *const names[] = {
		[CHECK_OK] = "ok",
		[CHECK_LIMITED] = "limited",
		[CHECK_WRONG] = "wrong",
	};

	return names[verdict];
}

void checks_done(struct checks *checks)
{
	for (size_t i = 0; i < checks->count; i++) {
		free(checks->rows[i].name);
		free(checks->rows[i].text);
		free(checks->rows[i].remedy);
	}
	free(checks->rows);
	*checks = (struct checks){ 0 };
}
