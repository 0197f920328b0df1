#include "export/package_colors.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "export/meaning.h"
#include "export/oklch.h"
#include "profile/packages.h"
#include "profile/profile.h"

#define OWN_HUE    58
#define OWN_CHROMA 0.115
#define GREYEST    0.01 /* chroma below this is drawn as grey */

static const double package_hues[] = { 250, 150, 320, 200, 110, 285, 175, 350, 225, 130 };
static const double chroma_of_origin[ORIGIN_COUNT] = {
	[ORIGIN_OWN] = 0.05, /* of functions that count as foreign although their path is own */
	[ORIGIN_PACKAGE] = 0.1,
	[ORIGIN_SYSTEM] = 0.045,
	[ORIGIN_KERNEL] = 0.03,
};

struct family {
	struct package_family shown;
	uint32_t like; /* its first function */
	double chroma, hue;
};

struct package_colors {
	const struct profile *profile;
	const struct packages *packages;
	struct family *families; /* in the order of their first functions */
	size_t count;
	uint32_t *ranked;    /* indexes of families, the heaviest first */
	uint32_t *family_of; /* by function id */
};

/* Adds a UTF-16 unit, as browsers hash their strings. */
static uint32_t hash_unit(uint32_t hash, uint32_t unit)
{
	return hash * 31 + unit;
}

/* From -1 to 1, determined by the name, so that functions of one package differ a little. */
static double shade_of(const char *name)
{
	const size_t len = strlen(name);
	uint32_t hash = 0;

	for (size_t at = 0, step; at < len; at += step) {
		uint32_t character = (unsigned char)name[at];

		step = utf8_decode(name + at, len - at, &character);
		step = step ? step : 1;
		if (character >= 0x10000) {
			hash = hash_unit(hash, 0xd7c0 + (character >> 10));
			character = 0xdc00 + (character & 0x3ff);
		}
		hash = hash_unit(hash, character);
	}
	return (double)((hash >> 8) % 1000) / 500 - 1;
}

static uint32_t color_of(const struct family *family, bool is_own, enum language language,
			 double shade)
{
	if (language == LANGUAGE_FATHOM)
		return oklch_to_rgb(0.8, 0, 0);
	return oklch_to_rgb((family->chroma < GREYEST ? 0.905 : 0.845) + shade * 0.02,
			    family->chroma, family->hue + (is_own ? 14 * shade : 0));
}

/* Own code and bracketed rows are families of their own; else the package, 0 for none. */
static uint32_t family_key(const struct profile *profile, const struct packages *packages,
			   uint32_t function)
{
	const struct function_id id = { function };

	if (packages_is_own(packages, id))
		return UINT32_MAX;
	if (meaning_of_function(profile, function)->language == LANGUAGE_FATHOM)
		return UINT32_MAX - 1;
	return packages_of(packages, id);
}

static const char *family_name(const struct packages *packages, uint32_t key)
{
	if (key == UINT32_MAX)
		return "your code";
	if (key == UINT32_MAX - 1)
		return "not sampled";
	return key ? packages_get(packages, key)->name : "no package";
}

static double family_chroma(const struct packages *packages, uint32_t key)
{
	if (key == UINT32_MAX)
		return OWN_CHROMA;
	if (key == UINT32_MAX - 1 || key == 0)
		return 0;
	return chroma_of_origin[packages_get(packages, key)->origin];
}

/* Lists the families in the order of their first function, and finds each function's family. */
static void find_families(struct package_colors *colors, const struct packages *packages,
			  const uint64_t *self_ns)
{
	const size_t functions = profile_function_count(colors->profile);
	const size_t known = packages_count(packages) + 1;
	/* By key; own code and bracketed rows come after the packages. */
	CLEANUP(freep) uint32_t *place = xreallocarray(NULL, known + 2, sizeof *place);

	memset(place, 0xff, (known + 2) * sizeof *place);
	colors->families = xreallocarray(NULL, known + 2, sizeof *colors->families);
	for (uint32_t i = 0; i <= functions; i++) {
		const uint32_t key = family_key(colors->profile, packages, i);
		uint32_t *at = &place[key < known ? key : known + (key == UINT32_MAX)];

		if (*at == UINT32_MAX) {
			*at = (uint32_t)colors->count++;
			colors->families[*at] = (struct family){
				.shown.name = family_name(packages, key),
				.like = i,
				.chroma = family_chroma(packages, key),
				.hue = key == UINT32_MAX ? OWN_HUE : 0,
			};
		}
		colors->families[*at].shown.self_ns += self_ns[i];
		colors->family_of[i] = *at;
	}
}

static int compare_families(const void *a, const void *b, void *context)
{
	const struct family *families = context;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (families[x].shown.self_ns != families[y].shown.self_ns)
		return families[x].shown.self_ns > families[y].shown.self_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Assigns hues by rank, so that the heaviest packages differ most. */
static void rank_families(struct package_colors *colors, const struct packages *packages)
{
	const size_t hues = sizeof package_hues / sizeof *package_hues;
	size_t hue = 0;

	colors->ranked = xreallocarray(NULL, colors->count, sizeof *colors->ranked);
	for (uint32_t i = 0; i < colors->count; i++)
		colors->ranked[i] = i;
	qsort_r(colors->ranked, colors->count, sizeof *colors->ranked, compare_families,
		colors->families);
	for (size_t i = 0; i < colors->count; i++) {
		struct family *family = &colors->families[colors->ranked[i]];
		const struct function *like =
			meaning_of_function(colors->profile, family->like);
		const bool is_own =
			packages_is_own(packages, (struct function_id){ family->like });

		if (!is_own && family->chroma > GREYEST)
			family->hue = package_hues[hue++ % hues];
		family->shown.color = color_of(family, is_own, like->language, 0);
	}
}

struct package_colors *package_colors_new(const struct profile *profile,
					  const struct packages *packages,
					  const uint64_t *self_ns)
{
	struct package_colors *colors = xzalloc(sizeof *colors);

	colors->profile = profile;
	colors->packages = packages;
	colors->family_of = xreallocarray(NULL, profile_function_count(profile) + 1,
					  sizeof *colors->family_of);
	find_families(colors, packages, self_ns);
	rank_families(colors, packages);
	return colors;
}

void package_colors_free(struct package_colors *colors)
{
	if (!colors)
		return;
	free(colors->families);
	free(colors->ranked);
	free(colors->family_of);
	free(colors);
}

void package_colors_freep(struct package_colors **colors)
{
	package_colors_free(*colors);
}

uint32_t package_colors_of(const struct package_colors *colors, uint32_t function)
{
	const struct function *meant = meaning_of_function(colors->profile, function);

	return color_of(&colors->families[colors->family_of[function]],
			packages_is_own(colors->packages, (struct function_id){ function }),
			meant->language, shade_of(meaning_of_name(meant)));
}

const struct package_family *package_colors_family(const struct package_colors *colors,
						   size_t i)
{
	return i < colors->count ? &colors->families[colors->ranked[i]].shown : NULL;
}
