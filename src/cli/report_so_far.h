/* report_so_far - prints a report of a recording that is still being written, on request. */
#pragma once

/*
 * Starts "fathom report" of the recording at path, on standard error, and does not wait for it;
 * the report is at most a second behind, and prints its own failures. Called in the recorder,
 * whose signals are blocked and whose nice value may be better than the user's: the report has
 * neither, and is not a child of the recorder, which counts its children's CPU time.
 */
void report_so_far_start(const char *path);
