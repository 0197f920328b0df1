#include "export/export.h"

#include <string.h>

#include "export/formats.h"
#include "export/picture.h"

static const struct exporter exporters[] = {
	{ .name = "folded",
	  .suffix = ".folded",
	  .summary = "one line per stack, for flame graph scripts",
	  .write = write_folded },
	{ .name = "speedscope",
	  .suffix = ".speedscope.json",
	  .summary = "for the viewer speedscope",
	  .mark = "{\"$schema\":\"https://www.speedscope.app/",
	  .write = write_speedscope },
	{ .name = "pprof",
	  .suffix = ".pb.gz",
	  .summary = "for pprof and its viewers",
	  .is_binary = true,
	  .mark = "\x1f\x8b",
	  .write = write_pprof },
	{ .name = "flamegraph",
	  .suffix = ".html",
	  .summary = "a flame graph as one page for any browser",
	  .has_time_slots = true,
	  .mark = "<!DOCTYPE html>\n<!-- A page of fathom's -->",
	  .write = write_flamegraph },
	{ .name = "svg",
	  .suffix = ".svg",
	  .summary = "a flame graph as one image, for documents",
	  .mark = PICTURE_MARK,
	  .write = write_svg },
	{ .name = "pstats",
	  .suffix = ".pstats",
	  .summary = "for Python's pstats and SnakeViz: of a trace",
	  .is_binary = true,
	  .mark = "{(\x03",
	  .write = write_pstats },
	{ .name = "callgrind",
	  .suffix = ".callgrind",
	  .summary = "for KCachegrind and callgrind_annotate: of a trace",
	  .mark = "# callgrind format",
	  .write = write_callgrind },
};

#define EXPORTER_COUNT (sizeof exporters / sizeof *exporters)

const struct exporter *exporter_at(size_t i)
{
	return i < EXPORTER_COUNT ? &exporters[i] : NULL;
}

/* Whether the first line is like "main;sort 120". */
static bool is_folded(const char *head, size_t len)
{
	const char *end = memchr(head, '\n', len);
	const char *at = end;

	while (at && at > head && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at && at < end && at > head + 1 && at[-1] == ' ';
}

bool exporter_wrote(const struct exporter *exporter, const char *head, size_t len)
{
	if (!exporter->mark)
		return is_folded(head, len);
	const size_t mark_len = strlen(exporter->mark);

	return len >= mark_len && memcmp(head, exporter->mark, mark_len) == 0;
}

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; i < EXPORTER_COUNT; i++)
		if (strcmp(exporters[i].name, name) == 0)
			return &exporters[i];
	return NULL;
}
