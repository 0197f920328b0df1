/*
 * export_handmade PROFILE FORMAT - writes a profile made by hand to stdout, for the
 * tests that read it back with other people's readers.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "export/export.h"
#include "export/sink.h"
#include "handmade.h"
#include "profile/profile.h"

int main(int argc, char **argv)
{
	static const int out = STDOUT_FILENO;
	struct error err;

	struct profile *profile = argc == 3 ? handmade_profile(argv[1]) : NULL;
	const struct exporter *exporter = argc == 3 ? exporter_find(argv[2]) : NULL;
	if (!profile || !exporter) {
		fprintf(stderr, "usage: export_handmade PROFILE FORMAT\n");
		return 2;
	}
	struct sink sink = sink_to_fd(&out);
	int rc = exporter->write(profile, &sink, &err);
	if (rc < 0)
		fprintf(stderr, "export_handmade: %s\n", err.text);
	profile_free(profile);
	return rc < 0;
}
