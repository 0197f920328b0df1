/*
 * Prints a recording's notes. Notes of several processes that differ only in the process
 * ("python3 (pid 12): …") are printed once, for the first, with the number of the others.
 */
#include <stdbool.h>
#include <string.h>

#include "base/detail_notes.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "report/head.h"

#define OF_PROCESS " (pid "

struct group {
	const char *first;
	const char *sentence; /* the note without its process; NULL: it names none */
	size_t others;
};

static const char *sentence_of(const char *note)
{
	const char *pid = strstr(note, OF_PROCESS);
	const char *end = pid != NULL ? pid + strlen(OF_PROCESS) : NULL;

	if (pid == NULL)
		return NULL;
	end += strspn(end, "0123456789");
	return strncmp(end, "): ", 3) == 0 ? end : NULL;
}

static struct group *find_group(struct group *groups, size_t count, const char *sentence)
{
	for (size_t i = 0; sentence != NULL && i < count; i++) {
		if (groups[i].sentence != NULL && strcmp(groups[i].sentence, sentence) == 0)
			return &groups[i];
	}
	return NULL;
}

static void add_group(struct text *out, const struct style *style, const struct group *group)
{
	if (group->others == 0)
		head_add_line(out, style, "note", "%s", group->first);
	else
		head_add_line(out, style, "note", "%.*s) and %zu more%s",
			      (int)(group->sentence - group->first), group->first,
			      group->others, group->sentence + 1);
}

static bool is_detail(const char *note)
{
	static const char *const words[] = { NOTE_BY_TIMERS, NOTE_NO_TREE_EVENT,
					     NOTE_UNCOUNTED };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(note, words[i]) != NULL)
			return true;
	return false;
}

static void add_notes(struct text *out, const struct style *style,
		      const struct profile_info *info, bool has_details)
{
	CLEANUP(freep) struct group *groups = NULL;
	size_t count = 0;

	for (size_t i = 0; i < info->note_count; i++) {
		if (!has_details && is_detail(info->notes[i]))
			continue;
		const char *sentence = sentence_of(info->notes[i]);
		struct group *same = find_group(groups, count, sentence);

		if (same != NULL) {
			same->others++;
			continue;
		}
		groups = xreallocarray(groups, count + 1, sizeof *groups);
		groups[count++] =
			(struct group){ .first = info->notes[i], .sentence = sentence };
	}
	for (size_t i = 0; i < count; i++)
		add_group(out, style, &groups[i]);
}

void head_add_notes(struct text *out, const struct style *style,
		    const struct profile_info *info)
{
	add_notes(out, style, info, true);
}

void head_add_notes_of_summary(struct text *out, const struct style *style,
			       const struct profile_info *info)
{
	add_notes(out, style, info, false);
}
