/*
 * environment_end - moves the end of the environment that the kernel shows in /proc/PID/environ.
 */
#pragma once

/*
 * Moves the end from `from` to `to`, if it is at `from`.  Where the kernel refuses, the file still
 * shows NULs in the place of the entries: nothing else can be done about them.
 */
void environment_end_move(const char *from, const char *to);
