/*
 * browser - opens a file in the user's browser.
 *
 * Tried in this order: $BROWSER; Windows' browser from WSL; nothing if there is no display, as
 * over ssh; xdg-open.
 */
#pragma once

enum browser_result {
	BROWSER_STARTED,
	BROWSER_NO_DISPLAY, /* no display: the user may be on another machine */
	BROWSER_NONE,       /* no program to open it was found */
	BROWSER_FAILED,     /* the program failed at once */
};

/* path is absolute. The browser's output is discarded. */
enum browser_result browser_open(const char *path);
