#include "collect/processes/title.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"

/* Bytes of a command line that are read: a compiler's in a build are seldom longer. */
#define BYTES_MAX     8192
#define ARGUMENTS_MAX 512
/* A longer argument is cut, unless it is the only one. */
#define ARGUMENT_MAX 48
#define ELLIPSIS     "…"
/* From one reading to the next. */
#define WAIT_FIRST_NS 100000000ULL
#define WAIT_MAX_NS   1600000000ULL

/* How well an argument distinguishes a process from others, best first. */
enum rank {
	RANK_OPERAND,
	RANK_FILE,  /* follows an option, and looks like a file's name */
	RANK_OTHER, /* options, and other values */
	RANK_COUNT,
};

struct argument {
	const char *text;
	size_t len;
	bool is_chosen;
};

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80; /* UTF-8 */
}

/* Appends at most limit bytes: the end of a path, the beginning of anything else. */
static void add_cut(char *title, const char *text, size_t len, size_t limit)
{
	const size_t at = strlen(title), dots = strlen(ELLIPSIS);

	if (len <= limit) {
		snprintf(title + at, TITLE_SIZE - at, "%.*s", (int)len, text);
	} else if (text[0] == '/') {
		size_t from = len - (limit - dots);

		while (from < len && is_inside_character(text[from]))
			from++;
		snprintf(title + at, TITLE_SIZE - at, ELLIPSIS "%.*s", (int)(len - from),
			 text + from);
	} else {
		size_t to = limit - dots;

		while (to > 0 && is_inside_character(text[to]))
			to--;
		snprintf(title + at, TITLE_SIZE - at, "%.*s" ELLIPSIS, (int)to, text);
	}
}

/* Replaces control characters by spaces, and several spaces by one. */
static size_t clean(const char *from, size_t len, char *to)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char)from[i];
		const bool is_space = byte <= ' ' || byte == 0x7f;

		if (is_space && (out == 0 || to[out - 1] == ' '))
			continue;
		to[out++] = is_space ? ' ' : from[i];
	}
	while (out > 0 && to[out - 1] == ' ')
		out--;
	return out;
}

/* The arguments point into text, which has room for len bytes. */
static size_t split(const char *bytes, size_t len, char *text, struct argument *arguments)
{
	size_t count = 0;

	for (size_t from = 0; from < len && count < ARGUMENTS_MAX;) {
		const size_t size = strnlen(bytes + from, len - from);
		const size_t kept = clean(bytes + from, size, text);

		if (kept > 0)
			arguments[count++] = (struct argument){ .text = text, .len = kept };
		text += kept;
		from += size + 1;
	}
	return count;
}

/* Removes the folder from the program's path, which ends at the argument's first space. */
static void strip_folder(struct argument *program)
{
	const char *space = memchr(program->text, ' ', program->len);
	const size_t word = space ? (size_t)(space - program->text) : program->len;
	const char *slash = memrchr(program->text, '/', word);

	if (slash == NULL || slash + 1 == program->text + word)
		return;
	program->len -= (size_t)(slash + 1 - program->text);
	program->text = slash + 1;
}

/* Whether it has an extension, as "part.c" and "archive.tar.gz". */
static bool looks_like_file(const struct argument *argument)
{
	const char *slash = memrchr(argument->text, '/', argument->len);
	const char *name = slash ? slash + 1 : argument->text;
	const char *end = argument->text + argument->len;
	const char *dot = memrchr(name, '.', (size_t)(end - name));

	if (dot == NULL || dot == name || end - dot < 2 || end - dot > 6)
		return false;
	while (++dot < end) {
		if (!isalnum((unsigned char)*dot))
			return false;
	}
	return true;
}

/* What follows an option may be its value. */
static enum rank rank_of(const struct argument *arguments, size_t i)
{
	if (arguments[i].text[0] == '-')
		return RANK_OTHER;
	if (arguments[i - 1].text[0] != '-' || i == 1)
		return RANK_OPERAND;
	return looks_like_file(&arguments[i]) ? RANK_FILE : RANK_OTHER;
}

/* A compiler is given its source's name more than once. */
static bool is_chosen_already(const struct argument *arguments, size_t count, size_t which)
{
	const struct argument *it = &arguments[which];

	for (size_t i = 1; i < count; i++) {
		if (arguments[i].is_chosen && arguments[i].len == it->len &&
		    memcmp(arguments[i].text, it->text, it->len) == 0)
			return true;
	}
	return false;
}

/* Chooses the most distinctive arguments that fit; options only if there is nothing else. */
static void choose(struct argument *arguments, size_t count)
{
	/*
	 * Each may need a space and an ellipsis before it, and the last an ellipsis after it.
	 */
	const size_t around = 2 + strlen(ELLIPSIS);
	size_t used = arguments[0].len + around;
	bool has_any = false;

	arguments[0].is_chosen = true;
	for (int rank = 0; rank < RANK_COUNT && !(has_any && rank == RANK_OTHER); rank++) {
		for (size_t i = 1; i < count; i++) {
			const size_t len = arguments[i].len < ARGUMENT_MAX ? arguments[i].len
									   : ARGUMENT_MAX;

			if ((int)rank_of(arguments, i) != rank ||
			    used + len + around > TITLE_MAX ||
			    is_chosen_already(arguments, count, i))
				continue;
			arguments[i].is_chosen = has_any = true;
			used += len + around;
		}
	}
}

static void join(const struct argument *arguments, size_t count, size_t limit, char *title)
{
	bool is_gap = false;

	for (size_t i = 0; i < count; i++) {
		if (!arguments[i].is_chosen) {
			is_gap = true;
			continue;
		}
		if (i > 0)
			strcat(title, is_gap ? " " ELLIPSIS " " : " ");
		add_cut(title, arguments[i].text, arguments[i].len, limit);
		is_gap = false;
	}
	if (is_gap)
		strcat(title, " " ELLIPSIS);
}

void title_make(const char *bytes, size_t len, char out_title[TITLE_SIZE])
{
	struct argument arguments[ARGUMENTS_MAX];
	char text[BYTES_MAX];
	size_t whole = 0;

	out_title[0] = '\0';
	const size_t count =
		split(bytes, len < sizeof text ? len : sizeof text, text, arguments);

	if (count == 0)
		return;
	strip_folder(&arguments[0]);
	for (size_t i = 0; i < count; i++)
		whole += arguments[i].len + 1;
	if (count == 1 || whole <= TITLE_SIZE) {
		for (size_t i = 0; i < count; i++)
			arguments[i].is_chosen = true;
		join(arguments, count, TITLE_MAX, out_title);
		return;
	}
	if (arguments[0].len > ARGUMENT_MAX)
		arguments[0].len = ARGUMENT_MAX;
	choose(arguments, count);
	join(arguments, count, ARGUMENT_MAX, out_title);
}

/* False for a process that has ended, for a kernel thread, and for one that may not be read. */
static bool title_read(pid_t pid, char out_title[TITLE_SIZE])
{
	char path[64], bytes[BYTES_MAX];

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

	if (len <= 0)
		return false;
	title_make(bytes, (size_t)len, out_title);
	return out_title[0] != '\0';
}

static bool title_refresh(struct title *title, pid_t pid, uint64_t now_ns)
{
	char text[TITLE_SIZE];

	if (title->wait_ns == 0)
		title->wait_ns = WAIT_FIRST_NS;
	else if (title->wait_ns < WAIT_MAX_NS)
		title->wait_ns *= 2;
	title->due_ns = now_ns + title->wait_ns;
	title->read_ns = monotonic_ns();
	if (!title_read(pid, text) || (title->text != NULL && strcmp(title->text, text) == 0))
		return false;
	free(title->text);
	title->text = xstrdup(text);
	return true;
}

bool title_is_due(const struct title *title, uint64_t mark, uint64_t now_ns)
{
	const bool is_quiet = title->mark == mark && (mark == 0 || title->is_settled);

	return !is_quiet && now_ns >= title->due_ns;
}

bool title_look(struct title *title, pid_t pid, uint64_t mark, uint64_t now_ns)
{
	if (!title_is_due(title, mark, now_ns))
		return false;
	title->is_settled = title->mark == mark;
	title->mark = mark;
	return title_refresh(title, pid, now_ns);
}

bool title_look_first(struct title *title, pid_t pid, uint64_t now_ns)
{
	return title->text == NULL && title_refresh(title, pid, now_ns);
}

void title_take_exec(struct title *title, uint64_t exec_ns, struct title *out_next)
{
	*out_next = (struct title){ 0 };
	if (title->text == NULL || title->read_ns < exec_ns)
		return;
	out_next->text = title->text;
	out_next->read_ns = title->read_ns;
	title->text = NULL;
}
