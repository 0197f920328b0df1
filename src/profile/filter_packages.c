/* Selects functions by package. */
#include "profile/filter_internal.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/packages.h"
#include "profile/profile.h"

/* Ways to match, from exact to loose; the first that matches any package is used. */
static bool is_name(const char *name, const char *wanted)
{
	return strcasecmp(name, wanted) == 0;
}

static bool begins_name(const char *name, const char *wanted)
{
	return strncasecmp(name, wanted, strlen(wanted)) == 0;
}

static bool is_in_name(const char *name, const char *wanted)
{
	return strcasestr(name, wanted) != NULL;
}

static bool is_own_code(const char *wanted)
{
	return strcmp(wanted, "own") == 0 || strcmp(wanted, "[own code]") == 0;
}

static int no_such_package(const struct packages *packages, const char *wanted,
			   struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (uint32_t i = 1; i <= packages_count(packages); i++)
		if (packages_get(packages, i)->origin != ORIGIN_OWN)
			filter_add_name(&list, &count, packages_get(packages, i)->name);
	return error_set(
		err, -ENOENT,
		"no package is named \"%s\"; there are: own%s%s (--by package lists all)",
		wanted, count ? ", " : "", text_string(&list));
}

static size_t choose_tier(const struct profile *profile, const struct packages *packages,
			  bool (*fits)(const char *name, const char *wanted),
			  const char *wanted, bool *is_meant, struct text *description)
{
	size_t count = 0;

	for (uint32_t i = 1; i <= packages_count(packages); i++)
		if (fits(packages_get(packages, i)->name, wanted))
			filter_add_name(description, &count, packages_get(packages, i)->name);
	for (uint32_t i = 1; count > 0 && i <= profile_function_count(profile); i++) {
		const uint32_t package = packages_of(packages, (struct function_id){ i });

		is_meant[i] = package && fits(packages_get(packages, package)->name, wanted);
	}
	return count;
}

int filter_choose_package(const struct profile *profile, const char *wanted, bool *is_meant,
			  struct text *description, struct error *err)
{
	static bool (*const tiers[])(const char *name,
				     const char *wanted) = { is_name, begins_name, is_in_name };
	const struct packages_options own = { .own = profile_get_info(profile)->own };
	CLEANUP(packages_freep) struct packages *packages = packages_new(profile, &own);

	if (is_own_code(wanted)) {
		for (uint32_t i = 1; i <= profile_function_count(profile); i++)
			is_meant[i] = packages_is_own(packages, (struct function_id){ i });
		text_add(description, "your own code");
		return 0;
	}
	text_add(description, "package ");
	for (size_t tier = 0; tier < sizeof tiers / sizeof *tiers && *wanted; tier++)
		if (choose_tier(profile, packages, tiers[tier], wanted, is_meant, description) >
		    0)
			return 0;
	return no_such_package(packages, wanted, err);
}
