/*
 * oklch - colours by lightness, chroma and hue, where equal lightness looks equally light in every
 * hue, so that one colour of text is readable on all of them.
 * Source: https://bottosson.github.io/posts/oklab/
 */
#pragma once
#include <stdint.h>

/* 0xRRGGBB; lightness from 0 to 1, hue in degrees.  What sRGB does not have is clipped. */
uint32_t oklch_to_rgb(double lightness, double chroma, double hue);
