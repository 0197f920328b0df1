/* debian_package - finds the Debian package that a file belongs to. */
#pragma once

/* From dpkg's lists; the caller frees it. NULL: no package, or not Debian. */
char *debian_package_of(const char *path);
