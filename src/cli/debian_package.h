/*
 * debian_package - which package of the distribution a file is of.
 */
#pragma once

/* By dpkg's lists; the caller frees it.  NULL: none, or no Debian. */
char *debian_package_of(const char *path);
