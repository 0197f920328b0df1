#include "agent/exec/environment_copy.h"

#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include "abi/environment.h"
#include "abi/types.h"
#include "agent/core/environment.h"
#include "agent/core/memory.h"
#include "agent/exec/next_image.h"
#include "agent/exec/scratch.h"

/* MAX_ARG_STRLEN, the kernel's limit for one argument or entry (linux/binfmts.h). */
#define LARGEST_STRING (128U << 10)

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

#define PAGES_FOUND 16

/* The environment and arguments of the program that is to be executed. */
struct theirs {
	size_t count;        /* of entries */
	size_t bytes;        /* of entries and arguments, with the pointers to them */
	const char *preload; /* the program's own LD_PRELOAD; "": none */
	bool has_recorder;
	bool is_listed; /* ld.so is to list its libraries (ldd), not to start it */
	bool is_unreadable;
	u64 found[PAGES_FOUND]; /* pages that were found readable */
};

/* Whether the byte at `at` can be read; if not, the kernel will refuse it. */
static bool is_there(u64 found[PAGES_FOUND], const void *at)
{
	const u64 page = (u64)at & ~(MEMORY_PAGE - 1);
	u64 *known = &found[page / MEMORY_PAGE % PAGES_FOUND];

	if (page == 0 || (*known != page && !memory_probe(page)))
		return false;
	*known = page;
	return true;
}

/* The bytes of an argument or entry and of its pointer; 0 if it cannot be read. */
static size_t bytes_of(u64 found[PAGES_FOUND], const char *text)
{
	size_t len = 0;

	while (is_there(found, text + len)) {
		if (text[len++] == '\0')
			return len + sizeof(char *);
	}
	return 0;
}

/* Counts the argument or entry that *at points to; false: it is the end, or unreadable. */
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
 * The kernel takes a quarter of the stack's limit, but 128 KiB at least and 6 MiB at most
 * (fs/exec.c, bprm_stack_limits).  A program whose arguments and entries come near that gets no
 * agent, so that none fails for our entries.
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
	stpcpy(at, environment_agent_path());
}

bool environment_copy(struct environment_copy *copy, char *const *theirs_entries,
		      char *const *argv, const struct next_image *image, bool is_trap_ignored)
{
	const char *first_libraries = image->answer.first_libraries;
	struct environment_entries ours;

	if (!environment_entries(is_trap_ignored, image->is_brief, &ours))
		return false;
	const struct theirs theirs = theirs_look(theirs_entries, argv);
	const bool is_kept = first_libraries[0] == '\0' && theirs.preload[0] == '\0';
	const size_t preload_bytes = is_kept ? 0
					     : strlen(ours.preload) + 1 +
						       strlen(first_libraries) + 1 +
						       strlen(theirs.preload) + 1;

	if (theirs.has_recorder || theirs.is_listed || theirs.is_unreadable ||
	    preload_bytes > LARGEST_STRING ||
	    is_near_limit(theirs.bytes + preload_bytes + ENVIRONMENT_RECORDER_BYTES))
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
	entries[theirs.count] = ours.recorder;
	entries[theirs.count + 1] = is_kept ? ours.preload : preload;
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
