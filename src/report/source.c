#include "report/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular_file.h"

/* No source file is so large. */
#define SIZE_MAX_BYTES ((off_t)64 << 20)
#define PIECE_BYTES    ((size_t)65536)

/*
 * Names that interpreters give to code without a file: Python "<string>" and "<frozen
 * importlib._bootstrap>", Ruby "<internal:kernel>", "(eval at /srv/app.rb:3)", "-e" and "-".
 */
static bool is_no_file(const char *file)
{
	const size_t len = strlen(file);
	const char last = len > 1 ? file[len - 1] : '\0';

	return (file[0] == '<' && last == '>') || (file[0] == '(' && last == ')') ||
	       strcmp(file, "-") == 0 || strcmp(file, "-e") == 0;
}

char *source_path(const char *file)
{
	static const char internal[] = "<internal:/";
	const size_t begin = strlen(internal) - 1, len = strlen(file);

	if (!is_no_file(file))
		return xstrdup(file);
	if (len > begin + 2 && strncmp(file, internal, strlen(internal)) == 0)
		return xstrndup(file + begin, len - begin - 1);
	return NULL;
}

static int refuse_errno(const char *path, int number, struct error *err)
{
	if (number == ENOENT && *path != '/')
		return error_set(err, -number,
				 "%s cannot be found from here: its path is relative to where "
				 "the program ran, or was compiled",
				 path);
	if (number == ENOENT)
		return error_set(err, -number, "%s is not on this machine", path);
	if (number == ENOTDIR)
		return error_set(err, -number,
				 "%s is not a file of its own: it may be in an archive", path);
	return error_errno(err, -number, "%s cannot be read", path);
}

static uint64_t changed_ns(const struct stat *about)
{
	return (uint64_t)about->st_mtim.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)about->st_mtim.tv_nsec;
}

static int check(const char *path, const struct stat *about, struct source_age age,
		 struct error *err)
{
	if (about->st_size > SIZE_MAX_BYTES)
		return error_set(err, -EINVAL, "%s is not a source file", path);
	if (age.end_ns && changed_ns(about) > age.end_ns)
		return error_set(
			err, -ESTALE,
			"%s was changed after it was recorded: its lines are not those "
			"that ran",
			path);
	return 0;
}

static int read_all(int fd, const char *path, struct text *bytes, struct error *err)
{
	CLEANUP(freep) char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;

	while ((got = read(fd, piece, PIECE_BYTES)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return refuse_errno(path, errno, err);
		text_add_bytes(bytes, piece, (size_t)got);
		if (bytes->len > (size_t)SIZE_MAX_BYTES)
			return error_set(err, -EINVAL, "%s is not a source file", path);
	}
	return 0;
}

static void add_line(struct source *source, size_t *capacity, size_t begin)
{
	source->lines =
		array_grow(source->lines, source->count, capacity, sizeof *source->lines);
	source->lines[source->count++] = begin;
}

/* "\n", "\r\n" and "\r" end a line, as for Python, Ruby and compilers. */
static void split(struct source *source)
{
	char *data = source->bytes.data;
	size_t len = source->bytes.len, capacity = 0;

	for (size_t begin = 0, i = 0; i < len; i++) {
		bool is_pair = data[i] == '\r' && i + 1 < len && data[i + 1] == '\n';

		if (data[i] != '\n' && data[i] != '\r' && i + 1 < len)
			continue;
		add_line(source, &capacity, begin);
		if (data[i] == '\n' || data[i] == '\r')
			data[i] = '\0';
		i += is_pair;
		begin = i + 1;
	}
}

int source_read(const char *path, uint32_t line, struct source_age age,
		struct source *out_source, struct error *err)
{
	struct source source = { 0 };
	struct stat about;

	if (is_no_file(path))
		return error_set(err, -ENOENT, "%s is not a file that could be shown", path);
	CLEANUP(closep) int fd = regular_file_open(path, &about);

	if (fd == -EINVAL)
		return error_set(err, fd, "%s is not a source file", path);
	if (fd < 0)
		return refuse_errno(path, -fd, err);
	int rc = check(path, &about, age, err);

	if (rc == 0)
		rc = read_all(fd, path, &source.bytes, err);
	if (rc == 0)
		split(&source);
	if (rc == 0 && line > source.count)
		rc = error_set(err, -ESTALE,
			       "%s has %zu lines, and line %" PRIu32
			       " was recorded: it is another file",
			       path, source.count, line);
	if (rc < 0) {
		source_done(&source);
		return rc;
	}
	source.is_younger = age.begin_ns && changed_ns(&about) > age.begin_ns;
	*out_source = source;
	return 0;
}

void source_done(struct source *source)
{
	text_done(&source->bytes);
	free(source->lines);
	*source = (struct source){ 0 };
}

const char *source_line(const struct source *source, uint32_t line)
{
	return line > 0 && line <= source->count ? source->bytes.data + source->lines[line - 1]
						 : NULL;
}
