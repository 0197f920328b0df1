#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/options.h"

enum { WITHOUT_TERMINAL = 100, WIDEST = 10000 };

int option_set_color(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL
	};

	const int found = option_find_word(option, words, value, err);

	if (found >= 0)
		*(enum color_choice *)place = (enum color_choice)found;
	return found < 0 ? found : 0;
}

unsigned int terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col ? size.ws_col : 80;
	const unsigned long named = columns ? strtoul(columns, NULL, 10) : 0;

	return named > 0 && named <= WIDEST ? (unsigned int)named : WITHOUT_TERMINAL;
}

unsigned int terminal_height(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool terminal_has_color(int fd, enum color_choice choice)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}
