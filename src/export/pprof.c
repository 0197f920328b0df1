/*
 * pprof - the gzipped protobuf of pprof and of most continuous profilers.
 *
 * Two protobuf messages written one after the other read as one merged message.
 * So each sample, location, function and string is packed and written as a Profile
 * of its own as soon as it is known, and memory does not grow with the samples.
 *
 * A pprof location is an address with its inlined calls as lines of it; in our
 * stacks an inlined call is a frame of its own.  A location here is a run of frames:
 * inlined ones and the one they are inlined into.
 *
 * Addresses are the module's own (ELF virtual addresses): the same module lies
 * elsewhere in each process, and the profile has all of them.  pprof then wants a
 * mapping that begins at 0 and covers everything: "the address has already been
 * adjusted" (internal/elfexec, GetBase).
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
#include "pprof.pb-c.h"
#include "export/sink.h"
#include "profile/profile.h"

struct pprof {
	const struct profile *profile;
	struct output output;
	struct intern strings;       /* ids are indexes of the string table */
	struct intern locations;     /* runs of frame ids; ids are location ids */
	uint32_t *location_of_stack; /* of the run that starts there; 0: not made yet */
	uint32_t *caller_of_stack;   /* the stack behind that run */
	bool *is_function_written;   /* by function id */
	struct text run;             /* the frame ids of the run being made */
	uint64_t *location_ids;      /* of the sample being made */
	size_t location_capacity;
};

struct text_buffer {
	ProtobufCBuffer base;
	struct text *text;
};

static void append_to_text(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	text_add_bytes(((struct text_buffer *)buffer)->text, data, len);
}

static void write_part(struct pprof *pprof, const Pprof__Profile *part)
{
	struct text_buffer buffer = { .base = { .append = append_to_text },
				      .text = &pprof->output.buffer };

	pprof__profile__pack_to_buffer(part, &buffer.base);
	output_tick(&pprof->output);
}

/* The index of a string, made valid UTF-8 as protobuf demands. */
static int64_t string_index(struct pprof *pprof, const char *string)
{
	CLEANUP(text_done) struct text utf8 = { 0 };

	if (!string || !*string)
		return 0;
	text_add_shown(&utf8, string, strlen(string));
	return intern_add(&pprof->strings, utf8.data, utf8.len);
}

static void write_function(struct pprof *pprof, uint32_t n)
{
	const struct function *function = meaning_of_function(pprof->profile, n);
	Pprof__Function out = PPROF__FUNCTION__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (pprof->is_function_written[n])
		return;
	pprof->is_function_written[n] = true;
	out.id = n + 1ULL; /* 0 is "[unknown]" */
	out.name = out.system_name = string_index(pprof, meaning_of_name(function));
	if (function->plain_name)
		out.system_name = string_index(pprof, function->plain_name);
	out.filename = string_index(pprof, function->file);
	out.start_line = function->line;
	part.n_function = 1;
	part.function = (Pprof__Function *[]){ &out };
	write_part(pprof, &part);
}

/* The mapping of a function's code: none for what is no file's machine code. */
static uint32_t mapping_of(const struct function *function)
{
	return function->language == LANGUAGE_NATIVE ? function->module.n : 0;
}

static Pprof__Line line_of(struct pprof *pprof, const struct frame *frame)
{
	Pprof__Line line = PPROF__LINE__INIT;

	write_function(pprof, frame->function.n);
	line.function_id = frame->function.n + 1ULL;
	line.line = frame->line;
	return line;
}

/* The last frame of the run is the function whose code it is. */
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
	out.mapping_id = mapping_of(meaning_of_function(pprof->profile, frame->function.n));
	out.address = frame->address;
	out.n_line = count;
	out.line = pointers;
	part.n_location = 1;
	part.location = (Pprof__Location *[]){ &out };
	write_part(pprof, &part);
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

	label.key = string_index(pprof, key);
	label.str = string_index(pprof, value);
	return label;
}

static Pprof__Label number_label(struct pprof *pprof, const char *key, int64_t value)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.key = string_index(pprof, key);
	label.num = value;
	return label;
}

#define LABELS_MAX 4

static size_t make_labels(struct pprof *pprof, struct thread_id id,
			  Pprof__Label labels[LABELS_MAX])
{
	size_t count = 0;

	if (id.n == 0)
		return 0;
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

	sample.n_location_id = collect_locations(pprof, weight->stack.n);
	sample.location_id = pprof->location_ids;
	sample.n_value = 2;
	sample.value = (int64_t[]){ (int64_t)meaning_of_count(pprof->profile, weight),
				    (int64_t)weight->ns };
	sample.n_label = make_labels(pprof, weight->thread, labels);
	for (size_t i = 0; i < sample.n_label; i++)
		pointers[i] = &labels[i];
	sample.label = pointers;
	part.n_sample = 1;
	part.sample = (Pprof__Sample *[]){ &sample };
	write_part(pprof, &part);
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

static const char *build_id_hex(const struct module *module, char hex[41])
{
	static const char digits[] = "0123456789abcdef";
	size_t len = module->build_id_len < 20 ? module->build_id_len : 20;

	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[module->build_id[i] >> 4];
		hex[2 * i + 1] = digits[module->build_id[i] & 15];
	}
	hex[2 * len] = '\0';
	return hex;
}

/* What is known of the names in a module; not to be looked up again by pprof. */
struct coverage {
	bool is_used, has_files;
};

static void write_mapping(struct pprof *pprof, uint32_t n, const struct coverage *coverage)
{
	const struct module *module =
		profile_get_module(pprof->profile, (struct module_id){ n });
	Pprof__Mapping out = PPROF__MAPPING__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char hex[41];

	out.id = n;
	out.memory_limit = UINT64_MAX;
	out.filename = string_index(pprof, module->path);
	out.build_id = string_index(pprof, build_id_hex(module, hex));
	out.has_functions = true;
	out.has_filenames = out.has_line_numbers = out.has_inline_frames = coverage->has_files;
	part.n_mapping = 1;
	part.mapping = (Pprof__Mapping *[]){ &out };
	write_part(pprof, &part);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* pprof takes the first mapping for the program, so the command's comes first. */
static uint32_t main_module(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	for (uint32_t n = 1; info->command_count > 0 && n <= profile_module_count(profile);
	     n++) {
		const char *path = profile_get_module(profile, (struct module_id){ n })->path;
		if (path && strcmp(base_name(path), base_name(info->command[0])) == 0)
			return n;
	}
	return 0;
}

static void write_mappings(struct pprof *pprof)
{
	size_t modules = profile_module_count(pprof->profile);
	CLEANUP(freep) struct coverage *coverage = xzalloc((modules + 1) * sizeof *coverage);
	uint32_t first = main_module(pprof->profile);

	for (uint32_t n = 1; n <= profile_function_count(pprof->profile); n++) {
		const struct function *function = meaning_of_function(pprof->profile, n);
		coverage[mapping_of(function)].is_used = true;
		coverage[mapping_of(function)].has_files |= function->file != NULL;
	}
	if (coverage[first].is_used && first != 0)
		write_mapping(pprof, first, &coverage[first]);
	for (uint32_t n = 1; n <= modules; n++)
		if (n != first && coverage[n].is_used)
			write_mapping(pprof, n, &coverage[n]);
}

static void add_comment(void *context, const char *line)
{
	struct pprof *pprof = context;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_comment = 1;
	part.comment = (int64_t[]){ string_index(pprof, line) };
	write_part(pprof, &part);
}

static int64_t known_or_0(uint64_t figure)
{
	return figure == FIGURE_UNKNOWN ? 0 : (int64_t)figure;
}

static void write_head(struct pprof *pprof)
{
	const struct profile_info *info = profile_get_info(pprof->profile);
	const char *clock = info->clock && strcmp(info->clock, "wall") == 0 ? "wall" : "cpu";
	Pprof__ValueType counts = PPROF__VALUE_TYPE__INIT, time = PPROF__VALUE_TYPE__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	counts.type = string_index(pprof, meaning_of_counts(pprof->profile));
	counts.unit = string_index(pprof, "count");
	time.type = string_index(pprof, clock);
	time.unit = string_index(pprof, "nanoseconds");
	part.n_sample_type = 2;
	part.sample_type = (Pprof__ValueType *[]){ &counts, &time };
	part.default_sample_type = time.type;
	part.period_type = &time;
	part.period = known_or_0(info->period_ns);
	part.time_nanos = known_or_0(info->start_unix_ns);
	part.duration_nanos = known_or_0(info->wall_ns);
	write_part(pprof, &part);
	comments_each(pprof->profile, add_comment, pprof);
}

static void write_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i <= pprof->strings.count; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		const char *string = i > 0 ? intern_get(&pprof->strings, i, NULL) : "";
		part.n_string_table = 1;
		part.string_table = (char *[]){ (char *)string };
		write_part(pprof, &part);
	}
}

int write_pprof(const struct profile *profile, const struct sink *sink, struct error *err)
{
	struct gzip gzip;
	gzip_init(&gzip, sink);
	struct sink compressed = gzip_sink(&gzip);
	struct pprof pprof = { .profile = profile, .output = output_to(&compressed, err) };

	write_head(&pprof);
	write_mappings(&pprof);
	write_samples(&pprof);
	write_strings(&pprof);
	free(pprof.location_of_stack);
	free(pprof.caller_of_stack);
	free(pprof.is_function_written);
	free(pprof.location_ids);
	text_done(&pprof.run);
	intern_done(&pprof.strings);
	intern_done(&pprof.locations);
	return gzip_done(&gzip, output_done(&pprof.output), err);
}
