#include "export/sink.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

static int write_to_text(void *context, const void *bytes, size_t len, struct error *err)
{
	(void)err;
	text_add_bytes(context, bytes, len);
	return 0;
}

struct sink sink_to_text(struct text *text)
{
	return (struct sink){ .write = write_to_text, .context = text };
}

static int write_to_fd(void *context, const void *bytes, size_t len, struct error *err)
{
	const char *at = bytes;
	const int *fd = context;

	while (len > 0) {
		ssize_t written = write(*fd, at, len);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_errno(err, -errno, "cannot write the export");
		at += written;
		len -= (size_t)written;
	}
	return 0;
}

struct sink sink_to_fd(const int *fd)
{
	return (struct sink){ .write = write_to_fd, .context = (void *)fd };
}
