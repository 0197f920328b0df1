#include "profile/find.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/profile.h"

enum {
	NAMED_MAX = 6,
	SHOWN_BYTES = 80, /* of one name in a sentence */
	NEAR_MAX = 3,     /* names offered when nothing fits */
	COMPARED_BYTES = 64,
};

static bool is_name(const char *name, const char *wanted)
{
	return strcmp(name, wanted) == 0;
}

/* "ns::sort<int>(int*, int*)" is meant by "ns::sort" and by "sort". */
static bool is_name_without_decoration(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);
	const char *at = strstr(name, wanted);

	for (; at && len > 0; at = strstr(at + 1, wanted)) {
		bool begins = at == name || at[-1] == ':' || at[-1] == '.' || at[-1] == ' ';
		bool ends = !at[len] || strchr("(<[.@", at[len]);
		if (begins && ends && memchr(name, '(', (size_t)(at - name)) == NULL)
			return true;
	}
	return false;
}

static bool has_part(const char *name, const char *wanted)
{
	return *wanted && strstr(name, wanted);
}

static bool has_part_of_any_case(const char *name, const char *wanted)
{
	return *wanted && strcasestr(name, wanted);
}

static const char *name_of(const struct profile *profile, size_t id)
{
	return profile_get_function(profile, (struct function_id){ (uint32_t)id })->name;
}

static size_t try_tier(const struct profile *profile, const char *wanted,
		       bool (*fits)(const char *name, const char *wanted), struct found *found)
{
	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const char *name = name_of(profile, id);
		if (!fits(name, wanted))
			continue;
		found->is_meant[id] = true;
		found->name = name;
		found->count++;
	}
	return found->count;
}

static void add_shown(struct text *list, const char *name)
{
	size_t len = strlen(name);

	if (list->len > 0)
		text_add(list, ", ");
	text_add_printable(list, name, len > SHOWN_BYTES ? utf8_cut(name, SHOWN_BYTES) : len);
	if (len > SHOWN_BYTES)
		text_add(list, "…");
}

/* Names that fit, each once; strings are interned, so one name is one pointer. */
static int refuse_several(const struct profile *profile, const char *wanted,
			  const struct found *found, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	const char *shown[NAMED_MAX];
	size_t count = 0;

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const char *name = name_of(profile, id);
		bool is_new = found->is_meant[id];
		for (size_t i = 0; i < count && is_new; i++)
			is_new = shown[i] != name;
		if (!is_new)
			continue;
		if (count == NAMED_MAX) {
			text_add(&list, ", …");
			break;
		}
		shown[count++] = name;
		add_shown(&list, name);
	}
	return error_set(err, -EINVAL,
			 "\"%s\" fits several functions (%s): write one of them in full",
			 wanted, text_string(&list));
}

static bool is_one_name(const struct profile *profile, const struct found *found)
{
	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		if (found->is_meant[id] && strcmp(name_of(profile, id), found->name) != 0)
			return false;
	}
	return true;
}

/* How many bytes to insert, drop or change (Levenshtein), of at most COMPARED_BYTES each. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[COMPARED_BYTES + 1];
	size_t a_len = strnlen(a, COMPARED_BYTES);
	size_t b_len = strnlen(b, COMPARED_BYTES);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int diagonal = row[0];
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b_len];
}

struct near {
	const char *name;
	unsigned int distance;
};

static void keep_nearest(struct near nearest[NEAR_MAX], struct near candidate)
{
	for (size_t i = 0; i < NEAR_MAX; i++) {
		if (nearest[i].name == candidate.name && candidate.name)
			return;
		if (nearest[i].name && nearest[i].distance <= candidate.distance)
			continue;
		struct near pushed = nearest[i];
		nearest[i] = candidate;
		candidate = pushed;
	}
}

static int refuse_unknown(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	struct near nearest[NEAR_MAX] = { 0 };
	/* A third of the name mistyped is still a typing error. */
	unsigned int limit = (unsigned int)(strnlen(wanted, COMPARED_BYTES) / 3 + 1);

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const char *name = name_of(profile, id);
		struct near candidate = { name, distance(wanted, name) };
		if (candidate.distance <= limit)
			keep_nearest(nearest, candidate);
	}
	for (size_t i = 0; i < NEAR_MAX && nearest[i].name; i++)
		add_shown(&list, nearest[i].name);
	if (list.len > 0)
		return error_set(err, -ENOENT,
				 "no function in this profile is named \"%s\"; near it: %s",
				 wanted, text_string(&list));
	return error_set(
		err, -ENOENT,
		"no function in this profile is named \"%s\", and none has it in its name",
		wanted);
}

int find_functions(const struct profile *profile, const char *name, struct found *out_found,
		   struct error *err)
{
	static bool (*const tiers[])(const char *name, const char *wanted) = {
		is_name, is_name_without_decoration, has_part, has_part_of_any_case
	};
	struct found found = { .is_meant = xzalloc(profile_function_count(profile) + 1) };
	int rc = 0;

	for (size_t i = 0; i < sizeof tiers / sizeof *tiers && found.count == 0; i++)
		try_tier(profile, name, tiers[i], &found);
	if (found.count == 0)
		rc = refuse_unknown(profile, name, err);
	else if (!is_one_name(profile, &found))
		rc = refuse_several(profile, name, &found, err);
	if (rc < 0) {
		found_done(&found);
		return rc;
	}
	*out_found = found;
	return 0;
}

void found_done(struct found *found)
{
	freep(&found->is_meant);
	*found = (struct found){ 0 };
}
