#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/*
 * Enough for 65,530 mappings (more only if vm.max_map_count was raised) with lines of at most
 * some 4,200 bytes. Longer text is cut off there.
 */
#define MAPS_TEXT_MAX (256u << 20)

struct maps {
	struct arena arena; /* paths */
	struct mapping *mappings;
	size_t count;
	size_t capacity;
	size_t bad_lines;
};

struct line {
	const char *at;
	const char *end;
	bool is_bad;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Parses a number of at least one digit that fits 64 bits, or marks the line bad. */
static uint64_t take_number(struct line *line, unsigned base)
{
	uint64_t value = 0;
	const char *first = line->at;

	for (; line->at < line->end; line->at++) {
		int digit = digit_of(*line->at);
		if (digit < 0 || (unsigned)digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (unsigned)digit, &value))
			line->is_bad = true;
	}
	if (line->at == first)
		line->is_bad = true;
	return value;
}

static void take_char(struct line *line, char expected)
{
	if (line->at < line->end && *line->at == expected)
		line->at++;
	else
		line->is_bad = true;
}

static bool take_permission(struct line *line, char granted)
{
	if (line->at == line->end) {
		line->is_bad = true;
		return false;
	}
	return *line->at++ == granted;
}

/* The kernel escapes a newline in a path as \012, and no other byte. */
static char *copy_path(struct arena *arena, const char *path, size_t len)
{
	char *copy = arena_strndup(arena, path, len);
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(path + i, "\\012", 4) == 0) {
			copy[out++] = '\n';
			i += 3;
		} else {
			copy[out++] = path[i];
		}
	}
	copy[out] = '\0';
	return copy;
}

static void take_path(struct maps *maps, struct line *line, struct mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	const size_t deleted_len = sizeof deleted - 1;

	while (line->at < line->end && *line->at == ' ')
		line->at++;
	size_t len = (size_t)(line->end - line->at);
	if (len > deleted_len && memcmp(line->end - deleted_len, deleted, deleted_len) == 0) {
		mapping->is_deleted = true;
		len -= deleted_len;
	}
	mapping->path = copy_path(&maps->arena, line->at, len);
}

/* Parses "7f12a000-7f12b000 r-xp 00001000 fd:01 1234 /usr/lib/libfoo.so". */
static void add_line(struct maps *maps, struct line line)
{
	struct mapping m = { .path = "" };

	m.start = take_number(&line, 16);
	take_char(&line, '-');
	m.end = take_number(&line, 16);
	take_char(&line, ' ');
	m.is_readable = take_permission(&line, 'r');
	m.is_writable = take_permission(&line, 'w');
	m.is_executable = take_permission(&line, 'x');
	m.is_shared = take_permission(&line, 's');
	take_char(&line, ' ');
	m.file_offset = take_number(&line, 16);
	take_char(&line, ' ');
	m.device_major = (uint32_t)take_number(&line, 16);
	take_char(&line, ':');
	m.device_minor = (uint32_t)take_number(&line, 16);
	take_char(&line, ' ');
	m.inode = take_number(&line, 10);

	uint64_t least_start = maps->count ? maps->mappings[maps->count - 1].end : 0;
	if (line.is_bad || m.end <= m.start || m.start < least_start) {
		maps->bad_lines++;
		return;
	}
	take_path(maps, &line, &m);
	maps->mappings = array_grow(maps->mappings, maps->count, &maps->capacity, sizeof m);
	maps->mappings[maps->count++] = m;
}

struct maps *maps_parse(const char *text, size_t len)
{
	struct maps *maps = xzalloc(sizeof *maps);
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline) { /* an incomplete last line */
			maps->bad_lines++;
			break;
		}
		add_line(maps, (struct line){ .at = text, .end = newline });
		text = newline + 1;
	}
	return maps;
}

static int read_text(int fd, struct text *text)
{
	char buffer[16384];

	while (text->len < MAPS_TEXT_MAX) {
		ssize_t len = read(fd, buffer, sizeof buffer);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		if (len == 0)
			break;
		text_add_bytes(text, buffer, (size_t)len);
	}
	return 0;
}

int maps_read(pid_t pid, struct maps **out_maps, struct error *err)
{
	char path[64];
	CLEANUP(closep) int fd = -1;
	CLEANUP(text_done) struct text text = { 0 };

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "cannot read the mappings of process %d", pid);
	int rc = read_text(fd, &text);
	if (rc < 0)
		return error_errno(err, rc, "cannot read the mappings of process %d", pid);
	*out_maps = maps_parse(text_string(&text), text.len);
	return 0;
}

size_t maps_count(const struct maps *maps)
{
	return maps->count;
}

size_t maps_bad_lines(const struct maps *maps)
{
	return maps->bad_lines;
}

const struct mapping *maps_at(const struct maps *maps, size_t i)
{
	return &maps->mappings[i];
}

const struct mapping *maps_find(const struct maps *maps, uint64_t addr)
{
	size_t low = 0;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *m = &maps->mappings[middle];
		if (addr < m->start)
			high = middle;
		else if (addr >= m->end)
			low = middle + 1;
		else
			return m;
	}
	return NULL;
}

void maps_free(struct maps *maps)
{
	if (!maps)
		return;
	arena_done(&maps->arena);
	free(maps->mappings);
	free(maps);
}

void maps_freep(struct maps **maps)
{
	maps_free(*maps);
	*maps = NULL;
}
