#include "profile/find.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "profile/shown_as.h"

enum {
	NAMED_MAX = 6,
	SHOWN_BYTES = 80, /* of one name in a sentence */
	NEAR_MAX = 3,     /* names suggested if nothing matches */
	COMPARED_BYTES = 64,
};

static bool is_name(const struct function *function, const char *wanted)
{
	return strcmp(function->name, wanted) == 0;
}

/* The offset of the last component of the first len bytes of a path. */
static size_t last_component(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/' && path[len - 1] != '.')
		len--;
	return len;
}

/* The length without ".py" and without "/__init__", as the folder is what is imported. */
static size_t module_length(const char *path)
{
	static const char *const endings[] = { ".py", "/__init__" };
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && memcmp(path + len - ending, endings[i], ending) == 0)
			len -= ending;
	}
	return len;
}

/* "json.decoder" and "decoder" match "/usr/lib/python3.11/json/decoder.py". */
static bool is_module(const char *path, const char *wanted, size_t wanted_len)
{
	size_t len = module_length(path);

	for (;;) {
		size_t from = last_component(path, len);
		size_t wanted_from = last_component(wanted, wanted_len);

		if (len - from != wanted_len - wanted_from || len == from ||
		    memcmp(path + from, wanted + wanted_from, len - from) != 0)
			return false;
		if (wanted_from == 0)
			return true;
		if (from == 0)
			return false;
		len = from - 1;
		wanted_len = wanted_from - 1;
	}
}

/* "json.decoder.JSONDecoder.decode" matches JSONDecoder.decode in json/decoder.py. */
static bool is_name_behind_module(const struct function *function, const char *wanted)
{
	size_t name_len = strlen(function->name), len = strlen(wanted);

	if (function->language != LANGUAGE_PYTHON || !function->file || len < name_len + 2)
		return false;
	const char *name = wanted + len - name_len;

	return name[-1] == '.' && strcmp(name, function->name) == 0 &&
	       is_module(function->file, wanted, (size_t)(name - 1 - wanted));
}

/* Whether `wanted` is the end of the name, after one of the characters in `ends`. */
static bool is_end_of_qualified_name(const char *name, const char *wanted, const char *ends)
{
	size_t name_len = strlen(name), len = strlen(wanted);

	return len > 0 && name_len > len && strchr(ends, name[name_len - len - 1]) &&
	       strcmp(name + name_len - len, wanted) == 0;
}

/*
 * "Worker.run" and "run" match "job.<locals>.Worker.run", but "run" does not match
 * "run.<locals>.f".
 */
static bool is_end_of_python_name(const char *name, const char *wanted)
{
	return is_end_of_qualified_name(name, wanted, ".");
}

/* The length of the prefix that names a block in a method: "block (2 levels) in ". */
static size_t block_length(const char *name)
{
	static const char in[] = " in ";
	const char *at =
		strncmp(name, "block ", strlen("block ")) == 0 ? strstr(name, in) : NULL;

	return at ? (size_t)(at - name) + strlen(in) : 0;
}

/* "bar", "#bar", "Foo#bar" match "Outer::Foo#bar"; none matches "block in Outer::Foo#bar". */
static bool is_end_of_ruby_name(const char *name, const char *wanted)
{
	const size_t len = block_length(name);
	const char *ends = "#.:";

	if (strncmp(name, wanted, len) != 0)
		return false;
	wanted += len;
	if ((*wanted == '#' || *wanted == '.') && wanted[1])
		ends = *wanted++ == '#' ? "#" : ".";
	return is_end_of_qualified_name(name + len, wanted, ends);
}

/* "ns::sort" and "sort" match "ns::sort<int>(int*, int*)". */
static bool is_name_without_decoration(const struct function *function, const char *wanted)
{
	const char *name = function->name;
	size_t len = strlen(wanted);
	const char *at = strstr(name, wanted);

	if (function->language == LANGUAGE_PYTHON)
		return is_end_of_python_name(name, wanted);
	if (function->language == LANGUAGE_RUBY)
		return is_end_of_ruby_name(name, wanted);
	for (; at && len > 0; at = strstr(at + 1, wanted)) {
		bool begins = at == name || at[-1] == ':' || at[-1] == '.' || at[-1] == ' ';
		bool ends = !at[len] || strchr("(<[.@", at[len]);
		if (begins && ends && memchr(name, '(', (size_t)(at - name)) == NULL)
			return true;
	}
	return false;
}

static bool is_shown_name(const struct function *function, const char *wanted)
{
	return shown_as(function->name, wanted);
}

static bool has_part(const struct function *function, const char *wanted)
{
	return *wanted && strstr(function->name, wanted);
}

static bool has_part_of_any_case(const struct function *function, const char *wanted)
{
	return *wanted && strcasestr(function->name, wanted);
}

static const char *name_of(const struct profile *profile, size_t id)
{
	return profile_get_function(profile, (struct function_id){ (uint32_t)id })->name;
}

/* By function id: whether it is on a stack with time or samples. The caller frees it. */
static bool *mark_used(const struct profile *profile)
{
	size_t stacks = profile_stack_count(profile);
	CLEANUP(freep) bool *is_used_stack = xzalloc(stacks + 1);
	bool *is_used = xzalloc(profile_function_count(profile) + 1);

	for (size_t i = 0; i < profile_weight_count(profile); i++)
		is_used_stack[profile_get_weight(profile, i)->stack.n] = true;
	for (size_t id = stacks; id > 0; id--) {
		const struct stack *stack =
			profile_get_stack(profile, (struct stack_id){ (uint32_t)id });

		if (!is_used_stack[id])
			continue;
		is_used_stack[stack->parent.n] = true;
		is_used[profile_get_frame(profile, stack->frame)->function.n] = true;
	}
	return is_used;
}

static size_t try_tier(const struct profile *profile, const bool *is_used, const char *wanted,
		       bool (*fits)(const struct function *function, const char *wanted),
		       struct found *found)
{
	for (uint32_t id = 1; id <= profile_function_count(profile); id++) {
		const struct function *function =
			profile_get_function(profile, (struct function_id){ id });
		if (!is_used[id] || !fits(function, wanted))
			continue;
		found->is_meant[id] = true;
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

/* Lists the names that match, each once. */
static int refuse_several(const struct profile *profile, const char *wanted,
			  const struct found *found, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	CLEANUP(text_done) struct text plain = { 0 };
	struct intern shown = { 0 };

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const size_t count = shown.count;

		if (!found->is_meant[id])
			continue;
		text_clear(&plain);
		short_name_add_plain(&plain, name_of(profile, id));
		intern_add(&shown, plain.data, plain.len);
		if (shown.count > NAMED_MAX) {
			text_add(&list, ", …");
			break;
		}
		if (shown.count > count)
			add_shown(&list, text_string(&plain));
	}
	intern_done(&shown);
	return error_set(err, -EINVAL,
			 "\"%s\" fits several functions (%s): write one of them in full",
			 wanted, text_string(&list));
}

/*
 * The common name of all matches: a function, or a template's instances; NULL: there are
 * several names.
 */
static char *one_name(const struct profile *profile, const struct found *found)
{
	CLEANUP(text_done) struct text first = { 0 };
	CLEANUP(text_done) struct text plain = { 0 };
	const char *whole = NULL;
	bool is_same = true;

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const char *name = name_of(profile, id);

		if (!found->is_meant[id])
			continue;
		is_same = is_same && (!whole || strcmp(name, whole) == 0);
		text_clear(&plain);
		short_name_add_plain(&plain, name);
		if (!whole)
			text_add(&first, text_string(&plain));
		else if (strcmp(text_string(&first), text_string(&plain)) != 0)
			return NULL;
		whole = name;
	}
	return xstrdup(is_same && whole ? whole : text_string(&first));
}

/* The Levenshtein distance of the first COMPARED_BYTES of each. */
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

static int refuse_unknown(const struct profile *profile, const bool *is_used,
			  const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	struct near nearest[NEAR_MAX] = { 0 };
	/* A third of the name may be mistyped. */
	unsigned int limit = (unsigned int)(strnlen(wanted, COMPARED_BYTES) / 3 + 1);

	for (size_t id = 1; id <= profile_function_count(profile); id++) {
		const char *name = name_of(profile, id);
		struct near candidate = { name, distance(wanted, name) };
		if (is_used[id] && candidate.distance <= limit)
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
		"no function in this profile is named \"%s\", and none has it in its name%s",
		wanted,
		profile_get_info(profile)->is_folded
			? " (an interpreter's own functions are there with --native)"
			: "");
}

int find_functions(const struct profile *profile, const char *name, struct found *out_found,
		   struct error *err)
{
	static bool (*const tiers[])(const struct function *function, const char *wanted) = {
		is_name,  is_name_behind_module, is_shown_name, is_name_without_decoration,
		has_part, has_part_of_any_case
	};
	CLEANUP(freep) bool *is_used = mark_used(profile);
	struct found found = { .is_meant = xzalloc(profile_function_count(profile) + 1) };
	int rc = 0;

	for (size_t i = 0; i < sizeof tiers / sizeof *tiers && found.count == 0; i++)
		try_tier(profile, is_used, name, tiers[i], &found);
	if (found.count == 0)
		rc = refuse_unknown(profile, is_used, name, err);
	else if ((found.name = one_name(profile, &found)) == NULL)
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
	freep(&found->name);
	*found = (struct found){ 0 };
}
