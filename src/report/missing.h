/*
 * missing - what a reader must know before believing a report: stacks that are cut short, with the
 * reason of most, samples that were lost, time of which too little is known.
 */
#pragma once
#include <stdbool.h>

struct profile;
struct text;

/*
 * Nothing where all is as it should be.  Of a brief program it is not said that most of it is shorter
 * than a sampling period: it has a line of its own.
 */
void missing_add(struct text *text, const struct profile *profile, bool is_brief);
