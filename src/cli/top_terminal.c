#include "cli/top_terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/output.h"

enum { COLUMNS = 80, LINES = 24 };

static struct {
	struct termios before;
	bool is_taken;
} terminal;

bool top_terminal_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

static void put(const char *bytes, size_t len)
{
	struct error err;

	/* Write errors are ignored: a closed terminal is detected when reading keys. */
	output_write(STDOUT_FILENO, "the terminal", bytes, len, &err);
}

bool top_terminal_enter(void)
{
	static const char enter[] = "\033[?1049h\033[?25l";
	struct termios keys;

	if (tcgetattr(STDIN_FILENO, &terminal.before) < 0)
		return false;
	keys = terminal.before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) < 0)
		return false;
	terminal.is_taken = true;
	put(enter, sizeof enter - 1);
	return true;
}

void top_terminal_leave(void)
{
	static const char leave[] = "\033[?25h\033[?1049l";

	if (!terminal.is_taken)
		return;
	put(leave, sizeof leave - 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
	terminal.is_taken = false;
}

void top_terminal_size(unsigned int *out_columns, unsigned int *out_lines)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){ 0 };
	*out_columns = size.ws_col ? size.ws_col : COLUMNS;
	*out_lines = size.ws_row ? size.ws_row : LINES;
}

/* Overwrites line by line, to avoid flicker. */
void top_terminal_show(const char *lines, size_t len)
{
	CLEANUP(text_done) struct text out = { 0 };

	text_add(&out, "\033[H");
	for (size_t at = 0; at < len;) {
		const char *end = memchr(lines + at, '\n', len - at);
		const size_t line = end ? (size_t)(end - (lines + at)) : len - at;

		text_add_bytes(&out, lines + at, line);
		text_add(&out, end ? "\033[K\n" : "\033[K");
		at += line + (end != NULL);
	}
	text_add(&out, "\033[J");
	put(out.data, out.len);
}
