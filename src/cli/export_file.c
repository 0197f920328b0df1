#include "cli/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/output.h"
#include "export/export.h"
#include "export/sink.h"

static bool ends_with(const char *path, const char *suffix)
{
	const size_t len = strlen(path), suffix_len = strlen(suffix);

	return len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

const struct exporter *export_file_format(const char *path)
{
	for (size_t i = 0; exporter_at(i); i++) {
		if (ends_with(path, exporter_at(i)->suffix))
			return exporter_at(i);
	}
	/* The only JSON format is speedscope's. */
	return ends_with(path, ".json") ? exporter_find("speedscope") : NULL;
}

int export_file_refuse_picture(const char *path, struct error *err)
{
	static const char *const pictures[] = { ".png", ".pdf" };

	for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
		if (ends_with(path, pictures[i]))
			return error_set(
				err, -EINVAL,
				"-o %s: there are no exports as %s; an image, -o x.svg, or a "
				"page, -o x.html, has the flame graph",
				path, pictures[i] + 1);
	}
	return 0;
}

int export_file_check(const char *path, const struct exporter *exporter, struct error *err)
{
	char head[4096];
	struct stat there;

	if (stat(path, &there) < 0 || !S_ISREG(there.st_mode) || there.st_size == 0)
		return 0;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd >= 0 ? read(fd, head, sizeof head) : -1;

	if (fd >= 0)
		close(fd);
	if (len >= 0 && exporter_wrote(exporter, head, (size_t)len))
		return 0;
	return error_set(err, -EEXIST,
			 "%s is there and is no %s export of fathom's: name another file, or "
			 "remove it",
			 path, exporter->name);
}

char *export_file_recording(const char *path, const struct exporter *exporter)
{
	const char *suffix = ends_with(path, exporter->suffix) ? exporter->suffix : ".json";

	return xasprintf("%.*s.fathom", (int)(strlen(path) - strlen(suffix)), path);
}

int export_file_write(const char *path, const struct exporter *exporter,
		      const struct profile *profile, struct error *err)
{
	struct output output = output_stdout();

	if (path) {
		int rc = output_open(path, &output, err);

		if (rc < 0)
			return rc;
	}
	struct sink sink = output_sink(&output);
	int rc = exporter->write(profile, &sink, err);

	if (rc == 0)
		return output_finish(&output, err);
	output_abandon(&output);
	return rc;
}
