/*
 * accuracy - prints confidence intervals of a recording's shares, and how long to record for
 * narrower ones.
 */
#pragma once

struct profile;
struct style;
struct text;

void accuracy_add(const struct profile *profile, const struct style *style, struct text *out);
