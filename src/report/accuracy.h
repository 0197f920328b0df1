/*
 * accuracy - confidence intervals of a recording's shares, and how long one would have to record.
 */
#pragma once

struct profile;
struct style;
struct text;

void accuracy_add(const struct profile *profile, const struct style *style, struct text *out);
