/*
 * package_colors - the colour of each function in a picture: its package's, as on the page in
 * its light theme (flamegraph/colors.js).
 *
 * Own code is orange, each package has a hue, the system's code is pale, the standard library
 * and the interpreter are grey. Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct package_colors;
struct packages;
struct profile;

/* A package, or a group of other code: "your code", "not sampled". */
struct package_family {
	const char *name;
	uint32_t color; /* 0xRRGGBB, the middle of its shades */
	uint64_t self_ns;
};

/*
 * self_ns: each function's self time, by function id, including id 0. Borrows profile and
 * packages.
 */
struct package_colors *package_colors_new(const struct profile *profile,
					  const struct packages *packages,
					  const uint64_t *self_ns);
void package_colors_free(struct package_colors *colors);
void package_colors_freep(struct package_colors **colors);
/* 0xRRGGBB of the function; also for function id 0. */
uint32_t package_colors_of(const struct package_colors *colors, uint32_t function);
/* The i-th by time, the heaviest first; NULL after the last. */
const struct package_family *package_colors_family(const struct package_colors *colors,
						   size_t i);
