#include "agent/core/environment.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "abi/environment.h"
#include "abi/ring.h"
#include "abi/types.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/environment_end.h"
#include "agent/core/memory.h"
#include "agent/core/scratch.h"

#define PRELOAD_BYTES (sizeof ENVIRONMENT_PRELOAD + PATH_MAX)
#define RECORDER_BYTES                                                                        \
	(sizeof ENVIRONMENT_RECORDER + sizeof ENVIRONMENT_IGNORED + ENVIRONMENT_LATE_DIGITS + \
	 PATH_MAX + sizeof((struct sockaddr_un *)0)->sun_path)

/* MAX_ARG_STRLEN, of what is one argument to the kernel (linux/binfmts.h). */
#define LARGEST_STRING (128U << 10)

/* Written by the constructor only: a vfork child shares it with its parent. */
static struct {
	bool has_recorder;
	bool inherits_ignored_trap;
	const char *socket;
	const char *agent_path; /* of agent_bytes: within preload */
	size_t agent_bytes;
	u64 late_ns;
	/* FATHOM_RECORDER for children that say hello at once, and late: within texts. */
	char *recorder_default[2];
	char *recorder_ignored[2];
	char *preload; /* "LD_PRELOAD=<agent>" */
	/*
	 * One behind the other: each page that is touched is a fault at the start of a program.
	 */
	char texts[PRELOAD_BYTES + 4 * RECORDER_BYTES];
} environment;

AGENT_START static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* "LD_PRELOAD=<agent>": what children get that have no library of their own to preload. */
AGENT_START static void keep_agent(char *at, const char *from, size_t bytes)
{
	char *path = stpcpy(at, ENVIRONMENT_PRELOAD);

	memcpy(path, from, bytes);
	path[bytes] = '\0';
	environment.preload = at;
	environment.agent_path = path;
	environment.agent_bytes = bytes;
}

/* The number behind the first word, if any, and where it ends. */
AGENT_START static const char *read_late_ns(const char *at, u64 *out_ns)
{
	*out_ns = 0;
	if (*at != ENVIRONMENT_LATE)
		return at;
	for (at++; *at >= '0' && *at <= '9' && *out_ns < UINT32_MAX; at++)
		*out_ns = *out_ns * 10 + (u64)(*at - '0');
	return at;
}

AGENT_START static void write_late_ns(char *digits, u64 ns)
{
	for (int i = ENVIRONMENT_LATE_DIGITS; i-- > 0; ns /= 10)
		digits[i] = (char)('0' + ns % 10);
}

/* Where the digits stand in an entry that has them. */
AGENT_START static char *late_digits_of(char *entry, const char *word)
{
	return entry + strlen(ENVIRONMENT_RECORDER) + strlen(word) + 1;
}

AGENT_START void environment_set_period(u64 period_ns)
{
	if (!environment.has_recorder)
		return;
	write_late_ns(late_digits_of(environment.recorder_default[1], ENVIRONMENT_DEFAULT),
		      period_ns);
	write_late_ns(late_digits_of(environment.recorder_ignored[1], ENVIRONMENT_IGNORED),
		      period_ns);
}

AGENT_START u64 environment_late_ns(void)
{
	return environment.late_ns;
}

AGENT_START u64 environment_late_ns_for_children(void)
{
	const struct ring_header *ring = agent.ring;

	if (agent.is_hello_due)
		return agent.late_ns;
	/* A debugger's process has children that are its debugger's, too. */
	if (ring == NULL || !__atomic_load_n(&ring->late_hellos, __ATOMIC_RELAXED) ||
	    (__atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1))
		return 0;
	return agent.terms.period_ns;
}

/* Both entries with this word, at `at`; returns where the next may stand. */
AGENT_START static char *write_entries(char *at, char *entries[2], const char *word,
				       const char *paths)
{
	entries[0] = at;
	at = stpcpy(stpcpy(stpcpy(at, ENVIRONMENT_RECORDER), word), paths) + 1;
	entries[1] = at;
	at = stpcpy(stpcpy(at, ENVIRONMENT_RECORDER), word);
	*at = ENVIRONMENT_LATE;
	return stpcpy(at + 1 + ENVIRONMENT_LATE_DIGITS, paths) + 1;
}

/* value: of FATHOM_RECORDER. */
AGENT_START static void keep_recorder(const char *value)
{
	const bool is_ignored = begins_with(value, ENVIRONMENT_IGNORED);
	u64 late_ns;

	if (!is_ignored && !begins_with(value, ENVIRONMENT_DEFAULT))
		return;
	const char *paths = read_late_ns(
		value + strlen(is_ignored ? ENVIRONMENT_IGNORED : ENVIRONMENT_DEFAULT),
		&late_ns);

	if (*paths != ':')
		return;
	const char *path = paths + 1;
	const size_t agent_bytes = strcspn(path, ":");
	const char *socket = path + agent_bytes + 1;

	if (agent_bytes >= PATH_MAX || socket[-1] != ':' ||
	    strlen(socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
		return;
	char *at = write_entries(environment.texts, environment.recorder_default,
				 ENVIRONMENT_DEFAULT, paths);

	at = write_entries(at, environment.recorder_ignored, ENVIRONMENT_IGNORED, paths);
	environment.socket = at - 1 - strlen(socket);
	keep_agent(at, path, agent_bytes);
	environment.inherits_ignored_trap = is_ignored;
	environment.late_ns = late_ns;
	environment.has_recorder = true;
	environment_set_period(late_ns);
}

/* So that neither the program nor /proc/PID/environ finds it in the initial stack. */
AGENT_START static void wipe(char *entry)
{
	memset(entry, 0, strlen(entry));
}

/*
 * Both entries out of the array, which grows shorter in place.  Programs find the
 * auxiliary vector behind its end (Go's runtime does), so what becomes free is a pair that the
 * vector's readers pass over; two entries make just one.
 */
AGENT_START static void remove_both(char **entries, size_t recorder, size_t preload,
				    size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (i != recorder && i != preload)
			entries[kept++] = entries[i];
	entries[kept] = NULL;
	entries[kept + 1] = (char *)AT_IGNORE;
	entries[kept + 2] = NULL;
}

AGENT_START void environment_take(char **entries)
{
	const size_t none = SIZE_MAX;
	size_t recorder = none, preload = none, count = 0;

	for (; entries[count] != NULL; count++) {
		if (begins_with(entries[count], ENVIRONMENT_RECORDER))
			recorder = count;
		else if (begins_with(entries[count], ENVIRONMENT_PRELOAD))
			preload = count;
	}
	if (recorder == none || preload == none)
		return;
	char *const recorder_entry = entries[recorder];
	char *const preload_entry = entries[preload];
	const bool are_last = recorder + 2 == count && preload + 1 == count;
	const char *end = preload_entry + strlen(preload_entry) + 1;

	keep_recorder(recorder_entry + strlen(ENVIRONMENT_RECORDER));
	wipe(recorder_entry);
	wipe(preload_entry);
	remove_both(entries, recorder, preload, count);
	if (are_last)
		environment_end_move(end, recorder_entry);
}

AGENT_START const char *environment_socket(void)
{
	return environment.socket;
}

/* Nothing listens there any more, or a stranger does: a fork's child inherits this. */
static bool is_recorder_gone;

bool environment_recorder_is_gone(void)
{
	return is_recorder_gone;
}

void environment_adopt(const char *socket)
{
	environment.socket = socket;
	is_recorder_gone = false;
}

void environment_note_recorder_gone(void)
{
	is_recorder_gone = true;
}

const char *environment_agent_path(void)
{
	return environment.agent_path;
}

/*
 * An image that has a ring may have a trap on its way, of a recorder that it cannot reach (it
 * has another root, for instance): what it executes is entered all the same, so that it is
 * taken.
 */
bool environment_may_enter(void)
{
	return environment.has_recorder && (agent.ring != NULL || !is_recorder_gone) &&
	       __atomic_load_n(&agent.may_call, __ATOMIC_RELAXED);
}

AGENT_START bool environment_inherits_ignored_trap(void)
{
	return environment.inherits_ignored_trap;
}

#define PAGES_FOUND 16

/* What is to be executed, as far as it matters here. */
struct theirs {
	size_t count;        /* of entries */
	size_t bytes;        /* of entries and arguments, with what points at them */
	const char *preload; /* its own libraries to preload; "": none */
	bool has_recorder;
	bool is_listed; /* ld.so is to list its libraries (ldd), not to start it */
	bool is_unreadable;
	u64 found[PAGES_FOUND]; /* pages that can be read */
};

/* What cannot be read is the kernel's to refuse. */
static bool is_there(u64 found[PAGES_FOUND], const void *at)
{
	const u64 page = (u64)at & ~(MEMORY_PAGE - 1);
	u64 *known = &found[page / MEMORY_PAGE % PAGES_FOUND];

	if (page == 0 || (*known != page && !memory_probe(page)))
		return false;
	*known = page;
	return true;
}

/* An argument or an entry, with what points at it; 0 if it cannot be read. */
static size_t bytes_of(u64 found[PAGES_FOUND], const char *text)
{
	size_t len = 0;

	while (is_there(found, text + len)) {
		if (text[len++] == '\0')
			return len + sizeof(char *);
	}
	return 0;
}

/* Whether there is one more, and it can be read, too: then it is counted. */
static bool theirs_count(struct theirs *theirs, char *const *at)
{
	if (!is_there(theirs->found, at) ||
	    !is_there(theirs->found, (const char *)(at + 1) - 1)) {
		theirs->is_unreadable = true;
		return false;
	}
	if (*at == NULL)
		return false;
	const size_t bytes = bytes_of(theirs->found, *at);

	theirs->bytes += bytes;
	theirs->is_unreadable = bytes == 0;
	return bytes != 0;
}

static struct theirs theirs_look(char *const *entries, char *const *argv)
{
	struct theirs theirs = { .preload = "" };

	while (argv != NULL && theirs_count(&theirs, argv))
		argv++;
	while (entries != NULL && !theirs.is_unreadable &&
	       theirs_count(&theirs, entries + theirs.count)) {
		const char *entry = entries[theirs.count++];

		if (begins_with(entry, ENVIRONMENT_PRELOAD))
			theirs.preload = entry + strlen(ENVIRONMENT_PRELOAD);
		else if (begins_with(entry, ENVIRONMENT_RECORDER))
			theirs.has_recorder = true;
		else if (begins_with(entry, "LD_TRACE_LOADED_OBJECTS="))
			theirs.is_listed = true;
	}
	return theirs;
}

/*
 * The kernel takes a quarter of the stack's limit, 128 KiB whatever that is, and 6 MiB at most
 * (fs/exec.c, bprm_stack_limits).  What comes near that goes without us, so that what would be
 * too large with our entries only is not.
 */
static bool is_near_limit(size_t bytes)
{
	const size_t least = 128U << 10, most = 6U << 20, leeway = 16U << 10;
	struct rlimit stack;
	size_t limit = least;

	if (bytes + leeway <= least)
		return false;
	if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / 4 > least)
		limit = stack.rlim_cur / 4 < most ? stack.rlim_cur / 4 : most;
	return bytes + leeway > limit;
}

static void put_preload(char *at, const char *first_libraries, const char *own)
{
	at = stpcpy(at, ENVIRONMENT_PRELOAD);
	if (own[0] != '\0')
		at = stpcpy(stpcpy(at, own), ":");
	if (first_libraries[0] != '\0')
		at = stpcpy(stpcpy(at, first_libraries), ":");
	stpcpy(at, environment.agent_path);
}

bool environment_copy(struct environment_copy *copy, char *const *theirs_entries,
		      char *const *argv, const char *first_libraries, bool is_trap_ignored)
{
	const struct theirs theirs = theirs_look(theirs_entries, argv);
	const bool is_kept = first_libraries[0] == '\0' && theirs.preload[0] == '\0';
	const size_t preload_bytes =
		is_kept ? 0
			: sizeof ENVIRONMENT_PRELOAD + strlen(first_libraries) + 1 +
				  environment.agent_bytes + 1 + strlen(theirs.preload);

	if (!environment.has_recorder || theirs.has_recorder || theirs.is_listed ||
	    theirs.is_unreadable || preload_bytes > LARGEST_STRING ||
	    is_near_limit(theirs.bytes + preload_bytes + RECORDER_BYTES))
		return false;
	const size_t pointers = theirs.count + ENVIRONMENT_ENTRIES + 1;

	copy->scratch = scratch_take(pointers * sizeof(char *) + preload_bytes);
	if (copy->scratch == NULL)
		return false;
	char **entries = copy->entries = scratch_memory(copy->scratch);
	char *preload = (char *)(entries + pointers);

	if (!is_kept)
		put_preload(preload, first_libraries, theirs.preload);
	if (theirs.count > 0)
		memcpy(entries, theirs_entries, theirs.count * sizeof(char *));
	const bool is_late = environment_late_ns_for_children() != 0;

	entries[theirs.count] = is_trap_ignored ? environment.recorder_ignored[is_late]
						: environment.recorder_default[is_late];
	entries[theirs.count + 1] = is_kept ? environment.preload : preload;
	entries[theirs.count + 2] = NULL;
	return true;
}

bool environment_names_recorder(char *const *theirs_entries)
{
	return theirs_look(theirs_entries, NULL).has_recorder;
}

void environment_copy_done(struct environment_copy *copy)
{
	scratch_give(copy->scratch);
}

AGENT_START void environment_forget(void)
{
	scratch_forget();
}
