/*
 * compare_judge - verdicts on the changes of a comparison.
 */
#pragma once
#include <stdbool.h>

struct comparison;

/* Sets the verdicts on all rows' self or total times, and counts the verdicts on self. */
void judge_rows(struct comparison *comparison, bool is_total);
