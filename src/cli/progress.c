#include "cli/progress.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/output.h"

/* Shorter work shows no progress. */
#define PATIENCE_NS UINT64_C(500000000)
#define REDRAW_NS   UINT64_C(100000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void draw(const char *line)
{
	output_write(STDERR_FILENO, "standard error", line, strlen(line), NULL);
}

void progress_report(void *context, size_t done, size_t total)
{
	struct progress *progress = context;
	uint64_t now = now_ns();

	if (!progress->started_at_ns)
		progress->started_at_ns = now;
	if (done == total) {
		if (progress->is_shown)
			draw("\r\033[K");
		progress->is_shown = false;
		return;
	}
	if (now - progress->started_at_ns < PATIENCE_NS ||
	    now - progress->shown_at_ns < REDRAW_NS || !isatty(STDERR_FILENO))
		return;
	struct text line = { 0 };

	text_addf(&line, "\r%s: %zu %%\033[K",
		  progress->what ? progress->what : "looking up names", done * 100 / total);
	draw(text_string(&line));
	text_done(&line);
	progress->shown_at_ns = now;
	progress->is_shown = true;
}
