/*
 * oklch - converts colours from lightness, chroma and hue. Equal lightness looks equally light
 * in every hue, so that one text colour is readable on all of them. Source:
 * https://bottosson.github.io/posts/oklab/
 */
#pragma once
#include <stdint.h>

/*
 * Returns 0xRRGGBB; lightness is from 0 to 1, hue in degrees. Colours outside of sRGB are
 * clipped.
 */
uint32_t oklch_to_rgb(double lightness, double chroma, double hue);
