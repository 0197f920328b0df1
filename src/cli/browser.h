/*
 * browser - shows a file in the user's browser.
 *
 * What opens it, the first that fits: $BROWSER; Windows' browser from WSL; nothing where there is
 * no display, as in a session of ssh; xdg-open.
 */
#pragma once

enum browser_result {
	BROWSER_STARTED,
	BROWSER_NO_DISPLAY, /* the user sits elsewhere, or has none */
	BROWSER_NONE,       /* nothing here that would open it */
	BROWSER_FAILED,     /* what was started failed at once */
};

/* path is absolute.  The browser's own output is dropped. */
enum browser_result browser_open(const char *path);
