#include "cli/top_loop.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/top_recorder.h"
#include "cli/top_terminal.h"
#include "load/load.h"
#include "profile/profile.h"
#include "report/number.h"
#include "view/top_screen.h"

/* Reading takes at most 1/SHARE of the time: a long recording is read less often. */
#define SHARE    8U
#define KEYS_MAX 64
/* If nothing was written for so long, nothing runs. */
#define IDLE_NS 2500000000ULL

static const enum group_by shown[] = { GROUP_BY_FUNCTION, GROUP_BY_THREAD, GROUP_BY_PROCESS,
				       GROUP_BY_MODULE, GROUP_BY_STATE };
#define SHOWN (sizeof shown / sizeof *shown)

struct loop {
	const struct top_options *options;
	struct top_recorder *recorder;
	struct top_rows tops[SHOWN];
	struct top_state state;
	struct text status;
	uint64_t start_ns, read_ns; /* when it began, and was last read */
	uint64_t written_ns;        /* time stamp of the version last read */
	uint64_t wall_ns;           /* length of the recording */
	uint64_t last_wall_ns;      /* its growth since the reading before */
	uint64_t next_ns;           /* when to read again */
	bool has_rows, has_last;    /* has_rows: it was read; has_last: also after its end */
	bool is_quit;
};

static void set_of_signals(sigset_t *set)
{
	static const int signals[] = { SIGINT,   SIGTERM, SIGHUP, SIGQUIT,
				       SIGWINCH, SIGCHLD, SIGTSTP };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(set, signals[i]);
}

void top_loop_prepare(void)
{
	sigset_t set;

	set_of_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The rows shown now. */
static struct top_rows *current(struct loop *loop)
{
	for (size_t i = 0; i < SHOWN; i++) {
		if (shown[i] == loop->state.by)
			return &loop->tops[i];
	}
	return &loop->tops[0];
}

static void add_ending(const struct loop *loop, struct text *out)
{
	const int status = loop->recorder->status;

	if (WIFSIGNALED(status))
		text_addf(out, "the recorder was killed by signal %d", WTERMSIG(status));
	else
		text_addf(out, "ended with exit code %d", WEXITSTATUS(status));
	text_add(out, loop->options->has_terminal ? " (q quits)   " : "   ");
}

/* Adds "now 60 % lock, 20 % io, 5 % running": all threads' time, states with 1 % or more. */
static void add_states(const struct loop *loop, struct text *out)
{
	const struct top_rows *states = &loop->tops[SHOWN - 1];
	const char *before = "   now ";

	for (size_t i = 0; i < states->count; i++) {
		const double percent =
			number_percent(states->rows[i].last.self_ns, states->last_ns);

		if (percent < 1)
			continue;
		text_addf(out, "%s%.0f %% %s", before, percent, states->rows[i].name);
		before = ", ";
	}
}

static void set_status(struct loop *loop, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const uint64_t last_ns = loop->tops[0].last_ns;
	struct text *out = &loop->status;

	text_clear(out);
	if (loop->recorder->has_ended)
		add_ending(loop, out);
	text_addf(out, "%.1f s", (double)loop->wall_ns / 1e9);
	if (loop->options->is_wall)
		add_states(loop, out);
	else if (loop->last_wall_ns > 0)
		text_addf(out, "   %.2f CPUs busy now",
			  (double)last_ns / (double)loop->last_wall_ns);
	text_addf(out, "   %zu process%s, %zu thread%s", profile_process_count(profile),
		  profile_process_count(profile) == 1 ? "" : "es",
		  profile_thread_count(profile), profile_thread_count(profile) == 1 ? "" : "s");
	text_add(out, "   ");
	number_add_count(out, info->samples);
	text_add(out, " samples");
}

static const char *why_empty(const struct loop *loop)
{
	if (!loop->has_rows || loop->options->is_wall)
		return NULL;
	return "nothing has used CPU time so far: --clock wall shows what threads wait for";
}

/* The recording's modification time in nanoseconds; 0: it does not exist. */
static uint64_t written_at(const char *path)
{
	CLEANUP(freep) char *log = xasprintf("%s-wal", path);
	const char *const files[] = { path, log };
	uint64_t last = 0;
	struct stat about;

	for (size_t i = 0; i < 2; i++) {
		if (stat(files[i], &about) < 0)
			continue;
		const uint64_t at = (uint64_t)about.st_mtim.tv_sec * 1000000000ULL +
				    (uint64_t)about.st_mtim.tv_nsec;

		last = at > last ? at : last;
	}
	return last;
}

/*
 * Whether the recording has grown, and by how much. The recorder writes once a second,
 * independent of our readings: "now" covers one or more of its commits.
 */
static bool has_grown(struct loop *loop, uint64_t written_ns)
{
	const uint64_t now = monotonic_ns();

	if (loop->has_rows && !loop->recorder->has_ended && written_ns == loop->written_ns &&
	    now - loop->read_ns < IDLE_NS)
		return false;
	loop->last_wall_ns = written_ns > loop->written_ns && loop->written_ns > 0
				     ? written_ns - loop->written_ns
				     : now - (loop->read_ns ? loop->read_ns : loop->start_ns);
	loop->written_ns = written_ns;
	loop->read_ns = now;
	return true;
}

static void take(struct loop *loop, const struct profile *profile, uint64_t written_ns)
{
	const uint64_t wall_ns = profile_get_info(profile)->wall_ns;

	if (!has_grown(loop, written_ns))
		return;
	loop->wall_ns = wall_ns > 0 ? wall_ns : loop->read_ns - loop->start_ns;
	/* Rows by state exist on the wall clock only. */
	for (size_t i = 0; i < SHOWN - !loop->options->is_wall; i++)
		top_rows_read(&loop->tops[i], profile);
	top_rows_sort(&loop->tops[SHOWN - 1], TOP_SORT_SELF);
	set_status(loop, profile);
	loop->has_rows = true;
}

static void read_recording(struct loop *loop)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	const bool is_over = loop->recorder->has_ended;
	const uint64_t written_ns = written_at(loop->recorder->recording);
	const uint64_t begin = monotonic_ns();
	struct profile *profile = NULL;
	struct error err;

	if (load_recording(loop->recorder->recording,
			   &(struct load_options){
				   .was_just_recorded = true,
				   .leaves_lines = true,
				   .shows_plumbing = loop->options->shows_plumbing,
			   },
			   notes, &profile, NULL, &err) == 0)
		take(loop, profile, written_ns);
	profile_free(profile);
	loop->has_last = is_over;
	const uint64_t took = SHARE * (monotonic_ns() - begin);

	loop->next_ns =
		begin + (took > loop->options->interval_ns ? took : loop->options->interval_ns);
}

static unsigned int draw(struct loop *loop)
{
	const struct top_options *options = loop->options;
	struct top_screen screen = {
		.top = current(loop),
		.state = &loop->state,
		.title = options->title,
		.status = loop->has_rows ? text_string(&loop->status)
					 : "waiting for the first samples",
		.why_empty = why_empty(loop),
		.most_rows = options->rows,
		.has_wall = options->is_wall,
		.style.has_color = terminal_has_color(STDOUT_FILENO, options->color),
	};
	CLEANUP(text_done) struct text text = { 0 };

	top_rows_sort(current(loop), loop->state.sort);
	if (options->has_terminal)
		top_terminal_size(&screen.style.width, &screen.height);
	else
		screen.style.width = terminal_width(STDOUT_FILENO);
	if (options->has_terminal || loop->has_rows)
		top_screen_draw(&screen, &text);
	if (options->has_terminal)
		top_terminal_show(text_string(&text), text.len);
	else if (text.len > 0) {
		struct error err;

		text_add(&text, "\n");
		/* stdout's reader has closed. */
		loop->is_quit |= output_write(STDOUT_FILENO, "standard output", text.data,
					      text.len, &err) < 0;
	}
	return screen.height;
}

static void take_keys(struct loop *loop, size_t rows)
{
	char bytes[KEYS_MAX];
	const ssize_t len = read(STDIN_FILENO, bytes, sizeof bytes);

	/* The terminal was closed. */
	if (len <= 0)
		loop->is_quit = true;
	for (ssize_t at = 0; at < len;) {
		size_t taken;
		const int key = top_screen_take_key(bytes + at, (size_t)(len - at), &taken);

		if (key != 0 && !top_screen_press(&loop->state, key, rows))
			loop->is_quit = true;
		if (loop->state.by == GROUP_BY_STATE && !loop->options->is_wall)
			loop->state.by = GROUP_BY_FUNCTION;
		at += (ssize_t)(taken > 0 ? taken : 1);
	}
	/* The next page up is counted from the last page. */
	const size_t count = current(loop)->count;
	const size_t last = count > rows ? count - rows : 0;

	if (loop->state.first > last)
		loop->state.first = last;
}

static void take_signals(struct loop *loop, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
		const int signal = (int)info.ssi_signo;

		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
		    signal == SIGQUIT)
			loop->is_quit = true;
	}
	top_recorder_poll(loop->recorder);
}

/* Milliseconds until the next reading; -1: never. */
static int time_left(const struct loop *loop)
{
	const uint64_t now = monotonic_ns();

	if (loop->has_last || loop->state.is_frozen)
		return -1;
	if (loop->recorder->has_ended || loop->next_ns <= now)
		return 0;
	return (int)((loop->next_ns - now) / 1000000 + 1);
}

/* One iteration: waits for a key, a signal or the time, and handles it. */
static void turn(struct loop *loop, int signals, unsigned int *height)
{
	struct pollfd fds[2] = { { .fd = signals, .events = POLLIN },
				 { .fd = STDIN_FILENO, .events = POLLIN } };
	const nfds_t count = loop->options->has_terminal ? 2 : 1;
	const bool is_timeout = poll(fds, count, time_left(loop)) == 0;
	const bool was_over = loop->recorder->has_ended;

	if (fds[0].revents != 0)
		take_signals(loop, signals);
	if (count == 2 && fds[1].revents != 0)
		take_keys(loop, *height > TOP_SCREEN_FRAME ? *height - TOP_SCREEN_FRAME : 1);
	if (loop->is_quit)
		return;
	const bool is_due = is_timeout || (loop->recorder->has_ended && !was_over);

	if (is_due)
		read_recording(loop);
	if (is_due || loop->options->has_terminal)
		*height = draw(loop);
}

bool top_loop_run(const struct top_options *options, struct top_recorder *recorder,
		  bool *out_is_quit)
{
	struct loop loop = { .options = options,
			     .recorder = recorder,
			     .start_ns = monotonic_ns(),
			     .next_ns = monotonic_ns() + options->interval_ns };
	unsigned int height = 0;
	sigset_t set;

	set_of_signals(&set);
	CLEANUP(closep) int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	for (size_t i = 0; i < SHOWN; i++)
		loop.tops[i].by = shown[i];
	loop.is_quit = signals < 0;
	if (options->has_terminal)
		height = draw(&loop);
	/* On a terminal the last screen stays until the user quits. */
	while (!loop.is_quit && !(loop.has_last && (!options->has_terminal || !loop.has_rows)))
		turn(&loop, signals, &height);
	for (size_t i = 0; i < SHOWN; i++)
		top_rows_done(&loop.tops[i]);
	text_done(&loop.status);
	*out_is_quit = loop.is_quit;
	return loop.has_rows;
}
