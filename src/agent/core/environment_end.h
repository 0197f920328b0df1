/*
 * environment_end - where the kernel thinks the environment ends, for /proc/PID/environ.
 */
#pragma once

/*
 * Makes it end at `to` instead of at `from`, if it ends there.  Where the kernel does not let
 * us, NULs remain behind the end: nothing else can be done about them.
 */
void environment_end_move(const char *from, const char *to);
