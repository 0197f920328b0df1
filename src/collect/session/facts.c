#include "collect/session/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/program_kind.h"
#include "base/detail_notes.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"
#include "collect/session/options.h"
#include "record/keys.h"
#include "record/writer.h"
#include "target/program.h"

/*
 * CPU time up to which a process may have ended before its delayed handshake: a period, the
 * time until a kernel tick notices it, and a margin.
 */
#define BRIEF_NS 20000000
/* Limits of a command line that is read from /proc; longer ones are cut. */
#define COMMAND_BYTES     4096
#define COMMAND_ARGUMENTS 256

static void add_string(struct json_object *array, const char *string)
{
	struct text escaped = { 0 };

	text_add_utf8(&escaped, string, strlen(string));
	json_object_array_add(array, json_object_new_string(text_string(&escaped)));
	text_done(&escaped);
}

/* Writes the patterns of functions that a trace counts. */
static void write_only(struct recording_writer *writer, const char *patterns)
{
	struct json_object *array = json_object_new_array();

	for (; *patterns != '\0'; patterns += strlen(patterns) + 1)
		add_string(array, patterns);
	recording_writer_set(writer, KEY_ONLY,
			     json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN));
	json_object_put(array);
}

static void write_command(struct recording_writer *writer, char *const *argv)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; argv[i] != NULL; i++)
		add_string(array, argv[i]);
	recording_writer_set(writer, KEY_COMMAND,
			     json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN));
	json_object_put(array);
}

/* Writes the pids, and the command line of the first process. */
static void write_pids(struct recording_writer *writer, const struct session_options *options)
{
	struct json_object *array = json_object_new_array();
	char *arguments[COMMAND_ARGUMENTS + 1];
	char text[COMMAND_BYTES];

	for (size_t i = 0; i < options->pid_count; i++)
		json_object_array_add(array, json_object_new_int(options->pids[i]));
	recording_writer_set(writer, KEY_PIDS,
			     json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN));
	json_object_put(array);
	if (process_command_read(options->pids[0], text, sizeof text, arguments,
				 COMMAND_ARGUMENTS) > 0)
		write_command(writer, arguments);
}

static void write_host(struct recording_writer *writer)
{
	struct utsname name;

	if (uname(&name) < 0)
		return;
	CLEANUP(freep)
	char *host = xasprintf("%s %s %s", name.sysname, name.release, name.machine);

	recording_writer_set(writer, KEY_HOST, host);
}

static void write_directory(struct recording_writer *writer)
{
	char path[PATH_MAX];

	/* For a directory outside of our root the kernel returns "(unreachable)/…". */
	if (getcwd(path, sizeof path) != NULL && path[0] == '/')
		recording_writer_set(writer, KEY_DIRECTORY, path);
}

/* Converts a recent time of CLOCK_MONOTONIC to ns since 1970. */
static int64_t unix_time_of(uint64_t monotonic)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
	       (int64_t)(monotonic_ns() - monotonic);
}

void session_facts_write_sampling(struct recording_writer *writer,
				  const struct session_options *options,
				  const struct perf_ability *ability)
{
	recording_writer_set(writer, KEY_CLOCK,
			     options->is_wall                    ? "wall"
			     : options->clock == CLOCK_KIND_USER ? "user"
								 : "cpu");
	recording_writer_set(writer, KEY_TRIGGER,
			     ability->is_copied     ? "copied"
			     : ability->can_sigtrap ? "sigtrap"
						    : "timer");
	recording_writer_set(writer, KEY_TRIGGER_WHY, ability->why);
	recording_writer_set_int(writer, KEY_RATE_HZ, options->rate_hz);
	recording_writer_set_int(writer, KEY_PERIOD_NS,
				 (int64_t)perf_choose_period(options->rate_hz, 0));
}

void session_facts_write_start(struct recording_writer *writer,
			       const struct session_options *options,
			       const struct perf_ability *ability, uint64_t start_ns)
{
	if (options->argv != NULL)
		write_command(writer, options->argv);
	else
		write_pids(writer, options);
	write_host(writer);
	write_directory(writer);
	if (options->overhead > 0) {
		char percent[32];

		snprintf(percent, sizeof percent, "%g%%", 100 * options->overhead);
		recording_writer_set(writer, KEY_OVERHEAD, percent);
	}
	recording_writer_set(writer, KEY_MODE, options->is_trace ? "trace" : "sample");
	if (options->is_trace)
		recording_writer_set(writer, KEY_CLOCK,
				     options->clock == CLOCK_KIND_WALL ? "wall" : "cpu");
	else
		session_facts_write_sampling(writer, options, ability);
	if (options->only[0] != '\0')
		write_only(writer, options->only);
	recording_writer_set(writer, KEY_CHILDREN, options->no_children ? "0" : "1");
	recording_writer_set(writer, KEY_FATHOM_VERSION, FATHOM_VERSION);
	recording_writer_set_int(writer, KEY_START_UNIX_NS, unix_time_of(start_ns));
}

/* The reason: the program that started it had no agent; and what a user can do about it. */
static const char *write_passer(struct image *image)
{
	struct text reason = { 0 };

	text_add(&reason, "started by ");
	text_add_printable(&reason, image->passer,
			   strnlen(image->passer, sizeof image->passer));
	text_add(&reason, ", which was not entered: let that run fathom record");
	free(image->own_reason);
	image->own_reason = reason.data;
	return image->own_reason;
}

/*
 * Whether its known CPU time is too little for a delayed handshake.  The kernel reports CPU
 * time at a process's end during a storm only; that of other processes is known from counters
 * and readings.
 */
static bool write_was_brief(const struct image *image)
{
	uint64_t ns = image->seen_ns > image->ended_ns ? image->seen_ns : image->ended_ns;

	if (image->counters.events.count > 0) {
		const uint64_t counted_ns =
			image->counters.before_ns + thread_events_read(&image->counters.events);

		ns = counted_ns > ns ? counted_ns : ns;
	}
	return ns < image->cpu_before_ns + BRIEF_NS;
}

const char *session_facts_why_unentered(struct image *image, const char *unanswered)
{
	CLEANUP(freep) struct target_program *program = NULL;

	if (image->delays_handshake && write_was_brief(image))
		return RECORDING_TOO_BRIEF;
	/* In another root directory the recorder would find other files by these names. */
	if (image->why_out_of_reach != NULL)
		return image->why_out_of_reach;
	if (image->exe != NULL && !image->is_reach_known && access(image->exe, F_OK) < 0 &&
	    errno == ENOENT)
		return "its program file is gone, or was in another root directory: it ended "
		       "before that could be looked at";
	program = xzalloc(sizeof *program);
	/* A forked child that has executed nothing runs its parent's program. */
	if (image->exe != NULL)
		target_program_judge(image->exe, NULL, program);
	if (image->exe != NULL && !program->is_enterable)
		return program->why_not;
	/*
	 * The program was judged by our own rights, which may not be its starter's.  For a
	 * process that has ended, reports show it: an exec without any mapping.
	 */
	if (image->unwatched_since_ns != 0 || (image->has_program && image->exe == NULL))
		return PROGRAM_PRIVILEGED_SENTENCE;
	if (image->is_recorded)
		return "another recording is made of it";
	if (image->is_passed_by)
		return write_passer(image);
	if (unanswered != NULL)
		return unanswered;
	if (image->exe == NULL)
		return "it ended before it could be looked at";
	/* In a child of fork() the agent does its handshake before fork() returns. */
	if (!image->has_program && image->parent_pid != 0)
		return "made by clone(2), vfork() or _Fork(), where no handler of fork() is "
		       "called, "
		       "or killed at once: the programs that it executes are sampled";
	return "its agent did not come: it was killed at once, was started past libc, or "
	       "could not reach the recorder";
}

void session_facts_note_left_out(struct recording_writer *writer,
				 const struct handshake_request *request, pid_t pid,
				 bool is_trace, const char *reason)
{
	struct text note = { 0 };

	text_add_printable(&note, request->name, strnlen(request->name, sizeof request->name));
	text_addf(&note, " (pid %d) ran %s: %s", (int)pid, is_trace ? "untraced" : "unsampled",
		  reason);
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}

void session_facts_note_nonsense(struct recording_writer *writer, const struct image *image)
{
	const struct trust *trust = &image->trust;
	struct text note = { 0 };

	text_add_printable(&note, image->name, strnlen(image->name, sizeof image->name));
	text_addf(&note, " (pid %d) wrote nonsense into the memory it shares with fathom: ",
		  (int)image->pid);
	if (trust->is_lost)
		text_add(&note, "its figures are left out from then on");
	else
		text_addf(&note, "%" PRIu64 " of its figures %s left out or bounded",
			  trust->doubtful, trust->doubtful == 1 ? "is" : "are");
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}

static void write_more(struct recording_writer *writer, uint64_t count, const char *what)
{
	CLEANUP(freep)
	char *note = xasprintf("%" PRIu64 " more %s %s", count,
			       count == 1 ? "process" : "processes", what);

	recording_writer_note(writer, note);
}

void session_facts_note_more_nonsense(struct recording_writer *writer, uint64_t count)
{
	write_more(writer, count, "wrote nonsense into the memory shared with fathom");
}

void session_facts_note_untraced(struct recording_writer *writer, const char *name, pid_t pid,
				 const char *reason)
{
	struct text note = { 0 };

	text_add_printable(&note, name, strlen(name));
	text_addf(&note, " (pid %d) ran untraced: %s", (int)pid, reason);
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}

void session_facts_note_more_untraced(struct recording_writer *writer, uint64_t count)
{
	write_more(writer, count, "ran untraced: 'fathom report --by process' names them");
}

/* A smaller difference is of no interest, and within that of the clocks. */
#define UNCOUNTED_SAID_NS   20000000
#define UNCOUNTED_SAID_PART 50

void session_facts_note_uncounted(struct recording_writer *writer, uint64_t waited_ns,
				  uint64_t counted_ns)
{
	if (waited_ns < counted_ns + UNCOUNTED_SAID_NS ||
	    waited_ns < counted_ns + counted_ns / UNCOUNTED_SAID_PART)
		return;
	CLEANUP(freep)
	char *note = xasprintf(
		"wait(2) reports %.3f s of CPU time " NOTE_UNCOUNTED ", which do "
		"not count how an ending process gives its memory back (Linux 6.16 and later), "
		"nor all of each switch between threads",
		(double)(waited_ns - counted_ns) / 1e9);

	recording_writer_note(writer, note);
}

void session_facts_note_early_traps(struct recording_writer *writer, uint64_t count)
{
	CLEANUP(freep)
	char *note = xasprintf(
		"%" PRIu64
		" stack%s not walked, because the walks before had taken as long as the "
		"program itself: the next sample stands for that time",
		count, count == 1 ? " was" : "s were");

	recording_writer_note(writer, note);
}

void session_facts_note_full(struct recording_writer *writer, uint64_t max_bytes,
			     uint64_t after_ns)
{
	const bool is_even = max_bytes % (1U << 20) == 0;
	CLEANUP(freep)
	char *note = xasprintf("the recording ended %.1f s after its start, at %" PRIu64
			       " %s (--max-size); the program ran on unrecorded",
			       (double)after_ns / 1e9, is_even ? max_bytes >> 20 : max_bytes,
			       is_even ? "MiB" : "bytes");

	recording_writer_note(writer, note);
}
