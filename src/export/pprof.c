/*
 * pprof - writes the gzipped protobuf of pprof and of most continuous profilers.
 *
 * Each sample, location and function is written as soon as it is known (pprof_writer.h).
 *
 * A pprof location is an address that contains its inlined calls as lines; our stacks have a
 * frame for each inlined call. So a location is a sequence of our frames: inlined ones and the
 * one that they are inlined into.
 */
#include "export/formats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/comments.h"
#include "export/gzip.h"
#include "export/meaning.h"
#include "export/output.h"
#include "export/pprof_mappings.h"
#include "export/pprof_values.h"
#include "export/pprof_writer.h"
#include "export/sink.h"
#include "pprof.pb-c.h"
#include "profile/profile.h"

struct pprof {
	const struct profile *profile;
	size_t value_count; /* of each sample */
	struct pprof_writer writer;
	struct intern locations;     /* sequences of frame ids; ids are location ids */
	uint32_t *location_of_stack; /* of the sequence that starts there; 0: not made yet */
	uint32_t *caller_of_stack;   /* the stack after that sequence */
	bool *is_function_written;   /* by function id */
	struct text run;             /* the frame ids of the current location */
	uint64_t *location_ids;      /* of the current sample */
	size_t location_capacity;
};

static void write_function(struct pprof *pprof, uint32_t n)
{
	const struct function *function = meaning_of_function(pprof->profile, n);
	Pprof__Function out = PPROF__FUNCTION__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (pprof->is_function_written[n])
		return;
	pprof->is_function_written[n] = true;
	out.id = n + 1ULL; /* 0 is "[unknown]" */
	out.name = out.system_name = pprof_string(&pprof->writer, meaning_of_name(function));
	if (function->plain_name)
		out.system_name = pprof_string(&pprof->writer, function->plain_name);
	out.filename = pprof_string(&pprof->writer, function->file);
	out.start_line = function->line;
	part.n_function = 1;
	part.function = (Pprof__Function *[]){ &out };
	pprof_write(&pprof->writer, &part.base);
}

static Pprof__Line line_of(struct pprof *pprof, const struct frame *frame)
{
	Pprof__Line line = PPROF__LINE__INIT;

	write_function(pprof, frame->function.n);
	line.function_id = frame->function.n + 1ULL;
	line.line = frame->line;
	return line;
}

/* The last frame of the sequence is the function that contains the code. */
static void write_location(struct pprof *pprof, uint32_t id)
{
	size_t count = pprof->run.len / sizeof(uint32_t);
	const uint32_t *frames = (const uint32_t *)(const void *)pprof->run.data;
	CLEANUP(freep) Pprof__Line *lines = xreallocarray(NULL, count, sizeof *lines);
	CLEANUP(freep) Pprof__Line **pointers = xreallocarray(NULL, count, sizeof *pointers);
	Pprof__Location out = PPROF__LOCATION__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	const struct frame *frame = NULL;

	for (size_t i = 0; i < count; i++) {
		frame = profile_get_frame(pprof->profile, (struct frame_id){ frames[i] });
		lines[i] = line_of(pprof, frame);
		pointers[i] = &lines[i];
	}
	out.id = id;
	out.mapping_id =
		pprof_mapping_of(meaning_of_function(pprof->profile, frame->function.n));
	out.address = frame->address;
	out.n_line = count;
	out.line = pointers;
	part.n_location = 1;
	part.location = (Pprof__Location *[]){ &out };
	pprof_write(&pprof->writer, &part.base);
}

/* The location whose innermost frame is the stack's. */
static uint32_t location_of(struct pprof *pprof, uint32_t stack)
{
	if (pprof->location_of_stack[stack])
		return pprof->location_of_stack[stack];

	bool is_inlined = true;
	uint32_t at = stack;
	text_clear(&pprof->run);
	while (at != 0 && is_inlined) {
		const struct stack *row =
			profile_get_stack(pprof->profile, (struct stack_id){ at });
		text_add_bytes(&pprof->run, &row->frame.n, sizeof row->frame.n);
		is_inlined = profile_get_frame(pprof->profile, row->frame)->is_inlined;
		at = row->parent.n;
	}
	size_t known = pprof->locations.count;
	uint32_t id = intern_add(&pprof->locations, pprof->run.data, pprof->run.len);
	if (pprof->locations.count > known)
		write_location(pprof, id);
	pprof->caller_of_stack[stack] = at;
	return pprof->location_of_stack[stack] = id;
}

static size_t collect_locations(struct pprof *pprof, uint32_t stack)
{
	size_t count = 0;

	while (stack != 0) {
		pprof->location_ids =
			array_grow(pprof->location_ids, count, &pprof->location_capacity,
				   sizeof *pprof->location_ids);
		pprof->location_ids[count++] = location_of(pprof, stack);
		stack = pprof->caller_of_stack[stack];
	}
	return count;
}

static Pprof__Label string_label(struct pprof *pprof, const char *key, const char *value)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.key = pprof_string(&pprof->writer, key);
	label.str = pprof_string(&pprof->writer, value);
	return label;
}

static Pprof__Label number_label(struct pprof *pprof, const char *key, int64_t value)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.key = pprof_string(&pprof->writer, key);
	label.num = value;
	return label;
}

#define LABELS_MAX 5

static size_t make_labels(struct pprof *pprof, const struct weight *weight,
			  Pprof__Label labels[LABELS_MAX])
{
	const struct thread_id id = weight->thread;
	size_t count = 0;

	if (profile_get_info(pprof->profile)->is_wall)
		labels[count++] =
			string_label(pprof, "state", thread_state_name(weight->state));
	if (id.n == 0)
		return count;
	const struct thread *thread = profile_get_thread(pprof->profile, id);
	if (thread->name)
		labels[count++] = string_label(pprof, "thread", thread->name);
	labels[count++] = number_label(pprof, "tid", thread->tid);
	if (thread->process.n == 0)
		return count;
	const struct process *process = profile_get_process(pprof->profile, thread->process);
	if (process->name)
		labels[count++] = string_label(pprof, "process", process->name);
	labels[count++] = number_label(pprof, "pid", process->pid);
	return count;
}

static void write_sample(struct pprof *pprof, const struct weight *weight)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Label labels[LABELS_MAX];
	Pprof__Label *pointers[LABELS_MAX];
	int64_t values[PPROF_VALUES_MAX];

	sample.n_location_id = collect_locations(pprof, weight->stack.n);
	sample.location_id = pprof->location_ids;
	pprof_values_of(pprof->profile, weight, values);
	sample.n_value = pprof->value_count;
	sample.value = values;
	sample.n_label = make_labels(pprof, weight, labels);
	for (size_t i = 0; i < sample.n_label; i++)
		pointers[i] = &labels[i];
	sample.label = pointers;
	part.n_sample = 1;
	part.sample = (Pprof__Sample *[]){ &sample };
	pprof_write(&pprof->writer, &part.base);
}

static void write_samples(struct pprof *pprof)
{
	size_t stacks = profile_stack_count(pprof->profile) + 1;
	size_t functions = profile_function_count(pprof->profile) + 1;

	pprof->location_of_stack = xreallocarray(NULL, stacks, sizeof(uint32_t));
	memset(pprof->location_of_stack, 0, stacks * sizeof(uint32_t));
	pprof->caller_of_stack = xreallocarray(NULL, stacks, sizeof(uint32_t));
	pprof->is_function_written = xzalloc(functions * sizeof(bool));
	for (size_t i = 0; i < profile_weight_count(pprof->profile); i++) {
		const struct weight *weight = profile_get_weight(pprof->profile, i);
		if (weight->ns > 0 || meaning_of_count(pprof->profile, weight) > 0)
			write_sample(pprof, weight);
	}
}

static void add_comment(void *context, const char *line)
{
	struct pprof *pprof = context;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_comment = 1;
	part.comment = (int64_t[]){ pprof_string(&pprof->writer, line) };
	pprof_write(&pprof->writer, &part.base);
}

static int64_t known_or_0(uint64_t figure)
{
	return figure == FIGURE_UNKNOWN ? 0 : (int64_t)figure;
}

static void write_head(struct pprof *pprof)
{
	const struct profile_info *info = profile_get_info(pprof->profile);
	struct pprof_value_type values[PPROF_VALUES_MAX];
	Pprof__ValueType types[PPROF_VALUES_MAX], *pointers[PPROF_VALUES_MAX];
	Pprof__Profile part = PPROF__PROFILE__INIT;

	pprof->value_count = pprof_values_types(pprof->profile, values);
	for (size_t i = 0; i < pprof->value_count; i++) {
		pprof__value_type__init(&types[i]);
		types[i].type = pprof_string(&pprof->writer, values[i].type);
		types[i].unit = pprof_string(&pprof->writer, values[i].unit);
		pointers[i] = &types[i];
	}
	part.n_sample_type = pprof->value_count;
	part.sample_type = pointers;
	part.default_sample_type = types[1].type;
	part.period_type = &types[1];
	part.period = known_or_0(info->period_ns);
	part.time_nanos = known_or_0(info->start_unix_ns);
	part.duration_nanos = known_or_0(info->wall_ns);
	pprof_write(&pprof->writer, &part.base);
	comments_each(pprof->profile, add_comment, pprof);
}

int write_pprof(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct gzip gzip;
	gzip_init(&gzip, sink);
	struct sink compressed = gzip_sink(&gzip);
	struct pprof pprof = { .profile = profile,
			       .writer = { .output = output_to(&compressed, err) } };

	write_head(&pprof);
	pprof_write_mappings(&pprof.writer, profile);
	write_samples(&pprof);
	free(pprof.location_of_stack);
	free(pprof.caller_of_stack);
	free(pprof.is_function_written);
	free(pprof.location_ids);
	text_done(&pprof.run);
	intern_done(&pprof.locations);
	return gzip_done(&gzip, pprof_writer_done(&pprof.writer), err);
}
