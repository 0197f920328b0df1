#include "cli/diff_picture.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/export_file.h"
#include "cli/output.h"
#include "export/export.h"
#include "export/sink.h"

/* A pseudo-exporter for the checks by file name; its write is not called here. */
static const struct exporter page = { .name = "difference",
				      .suffix = ".html",
				      .mark = DIFFERENCE_MARK };

static bool is_called(const char *path, const char *suffix)
{
	const size_t length = strlen(path), end = strlen(suffix);

	return length > end && strcmp(path + length - end, suffix) == 0;
}

int diff_picture_check(const char *path, struct error *err)
{
	if (is_called(path, page.suffix))
		return export_file_check(path, &page, err);
	if (is_called(path, ".svg"))
		return export_file_check(path, exporter_find("svg"), err);
	return error_set(err, -EINVAL,
			 "-o %s: what changed is drawn as a page, -o x.html, or as an image, "
			 "-o x.svg",
			 path);
}

int diff_picture_write(const char *path, const struct difference_terms *terms,
		       enum difference_side widths, struct error *err)
{
	struct output output;
	int rc = output_open(path, &output, err);

	if (rc < 0)
		return rc;
	const struct sink sink = output_sink(&output);

	rc = is_called(path, page.suffix) ? difference_write_html(terms, &sink, err)
					  : difference_write_svg(terms, widths, &sink, err);
	if (rc == 0)
		return output_finish(&output, err);
	output_abandon(&output);
	return rc;
}
