/*
 * package_colors - which colour a function has in a picture: that of its package, as on the page in
 * light (flamegraph/colors.js).
 *
 * One's own code is orange, each package has a hue of its own, what is the system's is pale, the
 * standard library and the interpreter are grey.  Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct package_colors;
struct packages;
struct profile;

/* A package, or what else code is known as: "your code", "not sampled". */
struct package_family {
	const char *name;
	uint32_t color; /* 0xRRGGBB, in the middle of its shades */
	uint64_t self_ns;
};

/*
 * self_ns: the time of its own of each function, by function id, with an entry for id 0.  Borrows
 * profile and packages.
 */
struct package_colors *package_colors_new(const struct profile *profile,
					  const struct packages *packages,
					  const uint64_t *self_ns);
void package_colors_free(struct package_colors *colors);
void package_colors_freep(struct package_colors **colors);
/* 0xRRGGBB of the function; of function id 0 too. */
uint32_t package_colors_of(const struct package_colors *colors, uint32_t function);
/* The i-th by time, the heaviest first; NULL behind the last. */
const struct package_family *package_colors_family(const struct package_colors *colors,
						   size_t i);
