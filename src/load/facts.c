#include "load/facts.h"

#include <inttypes.h>
#include <string.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/notes.h"
#include "load/command_line.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/reader.h"

/* A figure of the recording, or `unknown`. */
static uint64_t get_figure(struct recording_reader *reader, const char *key, uint64_t unknown)
{
	int64_t value = recording_reader_get_int(reader, key);

	return value == RECORDING_UNKNOWN || value < 0 ? unknown : (uint64_t)value;
}

static const char *get_string(struct recording_reader *reader, struct profile *profile,
			      const char *key)
{
	return profile_copy_string(profile, recording_reader_get(reader, key));
}

/* The last moment in a recording, for one without an end. */
static int find_last_moment(void *context, const struct recording_thread *row)
{
	uint64_t *last_ns = context;
	int64_t moment = row->end_ns != RECORDING_UNKNOWN ? row->end_ns : row->start_ns;

	if (moment > 0 && (uint64_t)moment > *last_ns)
		*last_ns = (uint64_t)moment;
	return 0;
}

struct tally {
	struct profile_info *info;
	size_t capacity;
};

static int add_ending(void *context, uint32_t ending, uint64_t samples)
{
#define WALK_STATUS_ROW(name, number, word, sentence) [number] = { word, sentence, 0 },
	static const struct stack_tally known[] = { WALK_STATUS_MAP(WALK_STATUS_ROW) };
#undef WALK_STATUS_ROW
	static const struct stack_tally other = { "unknown",
						  "a reason that only a newer fathom knows",
						  0 };
	struct tally *tally = context;
	struct profile_info *info = tally->info;

	/* Rows of time without samples, which belong to cpu_account.h. */
	if (ending == WALK_NO_SAMPLE)
		return 0;
	info->samples += samples;
	if (info->stack_tally_count == tally->capacity)
		return 0;
	info->stacks[info->stack_tally_count] =
		ending < sizeof known / sizeof known[0] ? known[ending] : other;
	info->stacks[info->stack_tally_count++].samples = samples;
	return 0;
}

static int add_lost(void *context, const char *reason, uint64_t samples)
{
	(void)reason;
	*(uint64_t *)context += samples;
	return 0;
}

static int read_tallies(struct recording_reader *reader, struct profile *profile,
			struct error *err)
{
	/* One row for each reason this version knows, and room for some it does not. */
	struct tally tally = { profile_info(profile), WALK_STATUS_COUNT + 8 };

	tally.info->stacks =
		profile_alloc(profile, tally.capacity * sizeof *tally.info->stacks);
	int rc = recording_reader_each_ending(reader, add_ending, &tally, err);

	if (rc == 0)
		rc = recording_reader_each_lost(reader, add_lost, &tally.info->lost, err);
	return rc;
}

int facts_read(struct recording_reader *reader, struct profile *profile, struct error *err)
{
	struct profile_info *info = profile_info(profile);
	uint64_t last_ns = 0;
	int rc = recording_reader_each_thread(reader, find_last_moment, &last_ns, err);

	if (rc < 0)
		return rc;
	info->command_count = command_line_parse(recording_reader_get(reader, KEY_COMMAND),
						 profile, &info->command);
	info->pids = get_string(reader, profile, KEY_PIDS);
	info->only_count = command_line_parse(recording_reader_get(reader, KEY_ONLY), profile,
					      &info->only);
	info->mode = get_string(reader, profile, KEY_MODE);
	info->clock = get_string(reader, profile, KEY_CLOCK);
	info->trigger = get_string(reader, profile, KEY_TRIGGER);
	info->trigger_why = get_string(reader, profile, KEY_TRIGGER_WHY);
	info->fathom_version = get_string(reader, profile, KEY_FATHOM_VERSION);
	info->host = get_string(reader, profile, KEY_HOST);
	info->directory = get_string(reader, profile, KEY_DIRECTORY);
	info->is_wall = info->mode && info->clock && strcmp(info->mode, "sample") == 0 &&
			strcmp(info->clock, "wall") == 0;
	info->rate_hz = get_figure(reader, KEY_RATE_HZ, 0);
	info->overhead = get_string(reader, profile, KEY_OVERHEAD);
	info->period_ns = get_figure(reader, KEY_PERIOD_NS, 0);
	info->start_unix_ns = get_figure(reader, KEY_START_UNIX_NS, FIGURE_UNKNOWN);
	info->wall_ns = get_figure(reader, KEY_WALL_NS, last_ns);
	info->machine_ns = get_figure(reader, KEY_MACHINE_NS, FIGURE_UNKNOWN);
	info->machine_idle_ns = get_figure(reader, KEY_MACHINE_IDLE_NS, FIGURE_UNKNOWN);
	info->kernel_cpu_ns = get_figure(reader, KEY_KERNEL_CPU_NS, FIGURE_UNKNOWN);
	info->paused_ns = get_figure(reader, KEY_PAUSED_NS, FIGURE_UNKNOWN);
	info->throttled_ns = get_figure(reader, KEY_THROTTLED_NS, 0);
	info->traced_life_ns = get_figure(reader, KEY_TRACED_LIFE_NS, 0);
	info->starts = get_figure(reader, KEY_STARTS, 0);
	info->starts_ns = get_figure(reader, KEY_STARTS_NS, 0);
	info->handler_ns = get_figure(reader, KEY_HANDLER_NS, FIGURE_UNKNOWN);
	info->trigger_cost_ns = get_figure(reader, KEY_TRIGGER_COST_NS, FIGURE_UNKNOWN);
	info->sampling_cost_ns = get_figure(reader, KEY_SAMPLING_COST_NS, FIGURE_UNKNOWN);
	info->is_unfinished = !recording_reader_is_finished(reader);
	info->is_being_written =
		info->is_unfinished && recording_reader_is_being_written(reader);
	return read_tallies(reader, profile, err);
}

static int add_note(void *context, const char *text)
{
	notes_add(context, "%s", text);
	return 0;
}

static int add_lost_note(void *context, const char *reason, uint64_t samples)
{
	notes_add(context, "%" PRIu64 " sample%s lost: %s", samples,
		  samples == 1 ? " was" : "s were", reason);
	return 0;
}

/* The first of all notes, if the recording has no end. */
static void note_state(struct recording_reader *reader, struct notes *notes)
{
	if (recording_reader_is_finished(reader))
		return;
	const char *mode = recording_reader_get(reader, KEY_MODE);
	const bool is_trace = mode && strcmp(mode, "trace") == 0;

	if (recording_reader_is_being_written(reader))
		notes_add(notes,
			  "the recording is still being written: this is a report so far");
	else
		notes_add(notes,
			  "the recording has no proper end (its recorder was killed, or could "
			  "not write any more): at most the last second is missing%s",
			  is_trace ? "" : ", and the CPU account is not whole");
}

int facts_read_notes(struct recording_reader *reader, struct notes *notes, struct error *err)
{
	note_state(reader, notes);
	int rc = recording_reader_each_note(reader, add_note, notes, err);

	return rc < 0 ? rc : recording_reader_each_lost(reader, add_lost_note, notes, err);
}

void facts_set_notes(struct profile *profile, const struct notes *notes)
{
	struct profile_info *info = profile_info(profile);
	size_t count = notes_count(notes);
	const char **list = profile_alloc(profile, (count + 1) * sizeof *list);

	for (size_t i = 0; i < count; i++)
		list[i] = profile_copy_string(profile, notes_text(notes, i, NULL));
	info->notes = list;
	info->note_count = count;
}
