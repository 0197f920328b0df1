/*
 * missing - what a reader must know before believing a report: stacks that are cut short, with the
 * reason of most, samples that were lost, time of which too little is known.
 */
#pragma once

struct profile;
struct text;

/* Nothing where all is as it should be. */
void missing_add(struct text *text, const struct profile *profile);
