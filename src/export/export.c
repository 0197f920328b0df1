#include "export/export.h"

#include <string.h>

#include "export/formats.h"

static const struct exporter exporters[] = {
	{ "folded", ".folded", "one line per stack, for flame graph scripts", false,
	  write_folded },
	{ "speedscope", ".speedscope.json", "for the viewer speedscope", false,
	  write_speedscope },
	{ "pprof", ".pb.gz", "for pprof and its viewers", true, write_pprof },
	{ "flamegraph", ".html", "a flame graph as one page for any browser", false,
	  write_flamegraph },
	{ "pstats", ".pstats", "for Python's pstats and SnakeViz: of a trace", true,
	  write_pstats },
	{ "callgrind", ".callgrind", "for KCachegrind and callgrind_annotate: of a trace",
	  false, write_callgrind },
};

#define EXPORTER_COUNT (sizeof exporters / sizeof *exporters)

const struct exporter *exporter_at(size_t i)
{
	return i < EXPORTER_COUNT ? &exporters[i] : NULL;
}

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; i < EXPORTER_COUNT; i++)
		if (strcmp(exporters[i].name, name) == 0)
			return &exporters[i];
	return NULL;
}
