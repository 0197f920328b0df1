/*
 * report_so_far - the report of a recording that is still being written, when one is asked for.
 */
#pragma once

/*
 * Starts "fathom report" of the recording at path, onto standard error, and does not wait for
 * it: what it says is at most a second old.  A failure is a sentence of the report's own.  Called
 * in the recorder, whose signals are blocked and whose nice value may be better than the user's;
 * the report has neither, and is no child of the recorder's, whose children's CPU time is counted.
 */
void report_so_far_start(const char *path);
