/*
 * missing - what a reader must know before believing a report: stacks that are cut short, with the
 * reason of most, samples that were lost, time of which too little is known.
 */
#pragma once

struct profile;
struct profile_info;
struct text;

/* Nothing where all is as it should be. */
void missing_add(struct text *text, const struct profile_info *info);
/*
 * Of the process that took most of what could not be sampled: its name, how much, and why not.
 * Nothing where that is little.
 */
void missing_add_unentered(struct text *text, const struct profile *profile);
