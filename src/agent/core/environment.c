#include "agent/core/environment.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/un.h>

#include "abi/environment.h"
#include "abi/ring.h"
#include "abi/types.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/environment_end.h"

#define PRELOAD_BYTES (sizeof ENVIRONMENT_PRELOAD + PATH_MAX)

/* The first word of FATHOM_RECORDER; [1]: SIGTRAP is ignored. */
static const char *const first_words[] = { ENVIRONMENT_DEFAULT, ENVIRONMENT_IGNORED };

/* When an image is to make its handshake, by the mark behind the first word. */
enum entry_kind { ENTRY_AT_ONCE, ENTRY_DELAYED, ENTRY_DELAYED_ALONE, ENTRY_KINDS };

/* Written by the constructor and by handshakes, not by vfork children, which share it. */
static struct {
	bool has_recorder;
	bool inherits_ignored_trap;
	/* No recorder listens any more, or another user does; children of fork inherit this. */
	bool is_recorder_gone;
	const char *socket;
	const char *agent_path; /* within preload */
	u64 delay_ns;
	bool is_delayed_alone; /* this image delays its handshake, its children do not */
	/* The FATHOM_RECORDER entries, within texts. */
	char *recorder[2][ENTRY_KINDS]; /* [1]: SIGTRAP is ignored */
	char *preload;                  /* "LD_PRELOAD=<agent>" */
	/* All strings, on few pages: each one touched is a fault at a program's start. */
	char texts[PRELOAD_BYTES + 2 * ENTRY_KINDS * ENVIRONMENT_RECORDER_BYTES];
} environment;

AGENT_START static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Makes "LD_PRELOAD=<agent>", for children that preload no library of their own. */
AGENT_START static void keep_agent(char *at, const char *from, size_t bytes)
{
	char *path = stpcpy(at, ENVIRONMENT_PRELOAD);

	memcpy(path, from, bytes);
	path[bytes] = '\0';
	environment.preload = at;
	environment.agent_path = path;
}

/* Reads the number behind the first word (0: none); returns its end. */
AGENT_START static const char *read_delay_ns(const char *at, u64 *out_ns)
{
	*out_ns = 0;
	if (*at != ENVIRONMENT_DELAYED && *at != ENVIRONMENT_DELAYED_ALONE)
		return at;
	for (at++; *at >= '0' && *at <= '9' && *out_ns < UINT32_MAX; at++)
		*out_ns = *out_ns * 10 + (u64)(*at - '0');
	return at;
}

AGENT_START static void write_delay_ns(char *digits, u64 ns)
{
	for (int i = ENVIRONMENT_DELAY_DIGITS; i-- > 0; ns /= 10)
		digits[i] = (char)('0' + ns % 10);
}

/* The place of the digits in an entry that has them. */
AGENT_START static char *delay_digits_of(char *entry, const char *word)
{
	return entry + strlen(ENVIRONMENT_RECORDER) + strlen(word) + 1;
}

AGENT_START void environment_set_period(u64 period_ns)
{
	if (!environment.has_recorder)
		return;
	for (u32 word = 0; word < 2; word++) {
		for (int kind = ENTRY_DELAYED; kind < ENTRY_KINDS; kind++)
			write_delay_ns(delay_digits_of(environment.recorder[word][kind],
						       first_words[word]),
				       period_ns);
	}
}

AGENT_START u64 environment_delay_ns(void)
{
	return environment.delay_ns;
}

AGENT_START u64 environment_delay_of_children_ns(void)
{
	const struct ring_header *ring = own_ring.header;

	if (own_handshake.is_due)
		return environment.is_delayed_alone ? 0 : own_handshake.delay_ns;
	/* Not during a pause: a debugger may be attached, and to the children, too. */
	if (ring == NULL || !__atomic_load_n(&ring->delayed_handshakes, __ATOMIC_RELAXED) ||
	    (__atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1))
		return 0;
	return own_ring.terms.period_ns;
}

bool environment_program_is_brief(u64 device, u64 inode)
{
	const struct ring_header *ring = own_ring.header;

	if (ring == NULL || (__atomic_load_n(&ring->pauses, __ATOMIC_RELAXED) & 1))
		return false;
	for (u32 i = 0; i < RING_BRIEF_PROGRAMS; i++) {
		const struct ring_program *program = &ring->brief_programs[i];

		if (__atomic_load_n(&program->inode, __ATOMIC_RELAXED) == inode &&
		    __atomic_load_n(&program->device, __ATOMIC_RELAXED) == device)
			return inode != 0;
	}
	return false;
}

/* Writes the entries that begin with this word at `at`; returns their end. */
AGENT_START static char *write_entries(char *at, char *entries[ENTRY_KINDS], const char *word,
				       const char *paths)
{
	static const char marks[] = { 0, ENVIRONMENT_DELAYED, ENVIRONMENT_DELAYED_ALONE };

	for (int kind = 0; kind < ENTRY_KINDS; kind++) {
		entries[kind] = at;
		at = stpcpy(stpcpy(at, ENVIRONMENT_RECORDER), word);
		if (kind != ENTRY_AT_ONCE) {
			*at = marks[kind];
			at += 1 + ENVIRONMENT_DELAY_DIGITS;
		}
		at = stpcpy(at, paths) + 1;
	}
	return at;
}

/* Reads FATHOM_RECORDER's value, and makes the entries for children from it. */
AGENT_START static void keep_recorder(const char *value)
{
	const bool is_ignored = begins_with(value, ENVIRONMENT_IGNORED);
	u64 delay_ns;

	if (!is_ignored && !begins_with(value, ENVIRONMENT_DEFAULT))
		return;
	const char *mark = value + strlen(first_words[is_ignored]);
	const char *paths = read_delay_ns(mark, &delay_ns);

	if (*paths != ':')
		return;
	const char *path = paths + 1;
	const size_t agent_bytes = strcspn(path, ":");
	const char *socket = path + agent_bytes + 1;

	if (agent_bytes >= PATH_MAX || socket[-1] != ':' ||
	    strlen(socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
		return;
	char *at = environment.texts;

	for (u32 word = 0; word < 2; word++)
		at = write_entries(at, environment.recorder[word], first_words[word], paths);
	environment.socket = at - 1 - strlen(socket);
	keep_agent(at, path, agent_bytes);
	environment.inherits_ignored_trap = is_ignored;
	environment.delay_ns = delay_ns;
	environment.is_delayed_alone = *mark == ENVIRONMENT_DELAYED_ALONE;
	environment.has_recorder = true;
	environment_set_period(delay_ns);
}

/* So that neither the program nor /proc/PID/environ finds the entry in the initial stack. */
AGENT_START static void wipe(char *entry)
{
	memset(entry, 0, strlen(entry));
}

/*
 * Removes both entries from the array, in place.  Programs look for the auxiliary vector behind the
 * array's end (Go's runtime does), so the two slots that become free are made a pair of the vector
 * that its readers skip (AT_IGNORE).
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

bool environment_recorder_is_gone(void)
{
	return environment.is_recorder_gone;
}

void environment_adopt(const char *socket)
{
	environment.socket = socket;
	environment.is_recorder_gone = false;
}

void environment_note_recorder_gone(void)
{
	environment.is_recorder_gone = true;
}

const char *environment_agent_path(void)
{
	return environment.agent_path;
}

/*
 * A process with a ring may have a trap on its way although it cannot reach its recorder (after
 * chroot(), for instance): the next program's agent takes that trap.
 */
bool environment_may_enter(void)
{
	return environment.has_recorder &&
	       (own_ring.header != NULL || !environment.is_recorder_gone) &&
	       __atomic_load_n(&permits.may_call, __ATOMIC_RELAXED);
}

bool environment_entries(bool is_trap_ignored, bool is_brief,
			 struct environment_entries *out_entries)
{
	const enum entry_kind kind = environment_delay_of_children_ns() != 0 ? ENTRY_DELAYED
				     : is_brief ? ENTRY_DELAYED_ALONE
						: ENTRY_AT_ONCE;

	if (!environment.has_recorder)
		return false;
	out_entries->recorder = environment.recorder[is_trap_ignored][kind];
	out_entries->preload = environment.preload;
	return true;
}

AGENT_START bool environment_inherits_ignored_trap(void)
{
	return environment.inherits_ignored_trap;
}
