#include "load/build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "load/build_calls.h"
#include "load/cpu_account.h"
#include "load/fold.h"
#include "load/names.h"
#include "load/only.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/reader.h"

struct loaded_thread {
	struct recording_thread row;
	struct thread_id id;
};

struct loaded_process {
	struct recording_process row;
	uint64_t cpu_ns, unentered_ns; /* of its threads */
	size_t thread_count;
	const char *interpreter;
};

/* Where frames further in stand (struct folded), packed: ids never come near 2^28. */
struct stack_base {
	uint32_t stack : 28;
	uint32_t outside : 2; /* enum fold_outside */
	uint32_t languages : FOLD_LANGUAGE_BITS;
};

struct builder {
	struct profile *profile;
	const struct names *names;
	const struct folding *folding;
	struct only only;
	struct error *err;
	struct intern strings;
	bool is_without_children;
	bool has_raw_times;

	/* The recording's ids to the profile's. */
	struct table modules, processes, threads;
	struct stack_id *stacks; /* by id - 1: there are tens of millions in some */
	size_t stack_count, stack_capacity;
	struct stack_base *bases; /* the same; none where nothing is folded */
	size_t base_capacity;
	bool *is_left_out; /* the same: its calls were not to be counted; none unless some were */
	size_t left_out_capacity;
	struct table module_mappings; /* a module to the index + 1 of its first mapping */
	struct recording_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct loaded_process *process_rows;
	size_t process_count, process_capacity;
	struct table process_rows_by_id; /* to index + 1 */
	struct loaded_thread *thread_rows;
	size_t thread_count, thread_capacity;
	struct function_id *functions; /* by index of names; none until first used */
};

static const char *keep_string(struct builder *builder, const char *string)
{
	return intern_get(&builder->strings, intern_string(&builder->strings, string), NULL);
}

static int damaged(struct builder *builder, const char *what, uint32_t id, const char *missing,
		   uint32_t missing_id)
{
	return error_set(builder->err, -EBADMSG,
			 "the recording is damaged: %s %" PRIu32 " names %s %" PRIu32
			 ", which is not there",
			 what, id, missing, missing_id);
}

/* A damaged table gives 0, which is "none" in every id. */
static uint32_t id_of(const struct table *table, uint32_t id)
{
	uint64_t found = 0;

	table_get(table, 0, id, &found);
	return (uint32_t)found;
}

static int read_mapping(void *context, const struct recording_mapping *row)
{
	struct builder *builder = context;
	bool is_new = false;
	uint64_t *place = table_at(&builder->module_mappings, 0, row->module, &is_new);

	if (!is_new)
		return 0;
	builder->mappings = array_grow(builder->mappings, builder->mapping_count,
				       &builder->mapping_capacity, sizeof *builder->mappings);
	builder->mappings[builder->mapping_count++] = *row;
	*place = builder->mapping_count;
	return 0;
}

/* What modules without a file are called. */
static const char *const kind_names[] = {
	[MODULE_KIND_ELF] = "[unknown]",   [MODULE_KIND_VDSO] = "[vdso]",
	[MODULE_KIND_JIT] = "[jit]",       [MODULE_KIND_UNKNOWN] = "[unknown]",
	[MODULE_KIND_KERNEL] = "[kernel]", [MODULE_KIND_INTERPRETED] = "[interpreted]",
};

static int read_module(void *context, const struct recording_module *row)
{
	struct builder *builder = context;
	size_t kind = (size_t)row->kind;
	bool has_file = row->kind == MODULE_KIND_ELF || row->kind == MODULE_KIND_VDSO;
	uint32_t mapping = id_of(&builder->module_mappings, row->id);
	struct module module = { .path = row->path };

	if (!module.path || !*module.path)
		module.path = kind < sizeof kind_names / sizeof kind_names[0] ? kind_names[kind]
									      : "[unknown]";
	module.build_id_len =
		row->build_id_len <= sizeof module.build_id ? row->build_id_len : 0;
	memcpy(module.build_id, row->build_id, module.build_id_len);
	/* JIT code is one module to its readers, in however many pieces it was mapped. */
	if (has_file && mapping) {
		module.start = builder->mappings[mapping - 1].start;
		module.end = builder->mappings[mapping - 1].end;
		module.file_offset = builder->mappings[mapping - 1].file_offset;
	}
	*table_at(&builder->modules, 0, row->id, NULL) =
		profile_add_module(builder->profile, &module).n;
	return 0;
}

static int read_process(void *context, const struct recording_process *row)
{
	struct builder *builder = context;
	struct loaded_process process = { .row = *row };

	process.row.name = keep_string(builder, row->name && *row->name ? row->name : "?");
	process.row.unentered_reason = keep_string(builder, row->unentered_reason);
	process.row.title = keep_string(builder, row->title);
	process.row.exe = NULL;
	builder->process_rows =
		array_grow(builder->process_rows, builder->process_count,
			   &builder->process_capacity, sizeof *builder->process_rows);
	builder->process_rows[builder->process_count++] = process;
	*table_at(&builder->process_rows_by_id, 0, row->id, NULL) = builder->process_count;
	return 0;
}

static struct loaded_process *process_of(struct builder *builder, uint32_t id)
{
	uint32_t index = id_of(&builder->process_rows_by_id, id);

	return index ? &builder->process_rows[index - 1] : NULL;
}

/* A process may have several, of two languages or of one. */
static int read_interpreter(void *context, const struct recording_interpreter *row)
{
	struct builder *builder = context;
	struct loaded_process *process = process_of(builder, row->process);
	CLEANUP(freep) char *name = NULL, *list = NULL;

	if (!process)
		return damaged(builder, "interpreter", row->id, "process", row->process);
	name = xasprintf("%s %s", language_name((enum language)row->language),
			 row->version ? row->version : "?");
	if (process->interpreter && strstr(process->interpreter, name))
		return 0;
	if (process->interpreter)
		list = xasprintf("%s, %s", process->interpreter, name);
	process->interpreter = keep_string(builder, list ? list : name);
	return 0;
}

static int read_thread(void *context, const struct recording_thread *row)
{
	struct builder *builder = context;
	struct loaded_thread thread = { .row = *row };
	struct loaded_process *process = process_of(builder, row->process);

	if (!process)
		return damaged(builder, "thread", row->id, "process", row->process);
	if (row->cpu_ns > 0)
		process->cpu_ns += (uint64_t)row->cpu_ns;
	if (row->unentered_ns > 0)
		process->unentered_ns += (uint64_t)row->unentered_ns;
	process->thread_count++;
	thread.row.name =
		keep_string(builder, row->name && *row->name ? row->name : process->row.name);
	builder->thread_rows =
		array_grow(builder->thread_rows, builder->thread_count,
			   &builder->thread_capacity, sizeof *builder->thread_rows);
	builder->thread_rows[builder->thread_count++] = thread;
	return 0;
}

static void add_processes(struct builder *builder)
{
	for (size_t i = 0; i < builder->process_count; i++) {
		const struct loaded_process *process = &builder->process_rows[i];
		struct process_id id = profile_add_process(
			builder->profile,
			&(struct process){
				.pid = process->row.pid,
				.parent = { id_of(&builder->processes, process->row.parent) },
				.name = process->row.name,
				.title = process->row.title,
				.cpu_ns = process->cpu_ns,
				.period_ns = process->row.period_ns > 0
						     ? (uint64_t)process->row.period_ns
						     : 0,
				.unentered_reason = process->row.unentered_reason,
				.unentered_ns = process->unentered_ns,
				.interpreter = process->interpreter,
			});

		*table_at(&builder->processes, 0, process->row.id, NULL) = id.n;
	}
}

static void add_threads(struct builder *builder)
{
	for (size_t i = 0; i < builder->thread_count; i++) {
		const struct recording_thread *row = &builder->thread_rows[i].row;
		const struct loaded_process *process = process_of(builder, row->process);
		struct cpu_account_process about = { process->row.name,
						     process->row.unentered_reason };
		struct thread_id id = profile_add_thread(
			builder->profile,
			&(struct thread){
				.process = { id_of(&builder->processes, row->process) },
				.tid = row->tid,
				.name = row->name,
				/* The kernel's figure is the process's: it is a thread's where
				 * there is only one. */
				.cpu_ns = process->thread_count == 1 ? process->cpu_ns : 0,
			});

		if (!about.unentered_reason && builder->is_without_children &&
		    row->unentered_ns > 0)
			about.unentered_reason = "--no-children";
		*table_at(&builder->threads, 0, row->id, NULL) = id.n;
		cpu_account_add_thread(builder->profile, id, row, &about);
	}
}

static enum language language_of(const struct named_function *named)
{
	return named->language < LANGUAGE_COUNT ? (enum language)named->language
						: LANGUAGE_NATIVE;
}

static struct function_id add_function(struct builder *builder, uint32_t index)
{
	struct function_id *known = &builder->functions[index];
	const struct named_function *named = &builder->names->functions[index];

	if (known->n)
		return *known;
	*known = profile_add_function(
		builder->profile, &(struct function){
					  .language = language_of(named),
					  .module = { id_of(&builder->modules, named->module) },
					  .name = named->name,
					  .file = named->file,
					  .line = named->line,
					  .plain_name = named->plain_name,
				  });
	return *known;
}

static struct frame_id add_frame(struct builder *builder, const struct named_location *location,
				 bool is_inlined)
{
	const struct named_function *named = &builder->names->functions[location->function];
	bool is_same_file =
		location->file && named->file && strcmp(location->file, named->file) == 0;

	return profile_add_frame(builder->profile,
				 &(struct frame){
					 .function = add_function(builder, location->function),
					 .line = location->line,
					 .file = is_same_file ? NULL : location->file,
					 .address = location->address,
					 .is_inlined = is_inlined,
				 });
}

static struct stack_id stack_of(const struct builder *builder, uint32_t id)
{
	return id != 0 && id <= builder->stack_count ? builder->stacks[id - 1]
						     : (struct stack_id){ 0 };
}

/* The locations of one frame, innermost first, on their way to stacks. */
struct pushing {
	struct builder *builder;
	const struct named_location *locations;
	size_t count;
};

static struct stack_id push(void *context, struct stack_id stack)
{
	const struct pushing *it = context;

	for (size_t i = it->count; i-- > 0;)
		stack = profile_add_stack(
			it->builder->profile, stack,
			add_frame(it->builder, &it->locations[i], i + 1 < it->count));
	return stack;
}

static struct folded parent_of(const struct builder *builder, const struct recording_stack *row)
{
	struct folded parent = { .shown = stack_of(builder, row->parent) };

	if (builder->bases && parent.shown.n) {
		const struct stack_base *base = &builder->bases[row->parent - 1];

		parent.base.n = base->stack;
		parent.outside = (enum fold_outside)base->outside;
		parent.languages = base->languages;
	}
	return parent;
}

static void keep_stack(struct builder *builder, const struct folded *folded)
{
	if (folding_is_on(builder->folding)) {
		builder->bases = array_grow(builder->bases, builder->stack_count,
					    &builder->base_capacity, sizeof *builder->bases);
		builder->bases[builder->stack_count] = (struct stack_base){
			.stack = folded->base.n & 0xfffffff,
			.outside = folded->outside & 3,
			.languages = folded->languages & 3U,
		};
	}
	builder->stacks = array_grow(builder->stacks, builder->stack_count,
				     &builder->stack_capacity, sizeof *builder->stacks);
	builder->stacks[builder->stack_count++] = folded->shown;
}

/* Of a function that was not to be counted: it has its caller's stack. */
static bool is_left_out(struct builder *builder, const struct named_location *outermost)
{
	const size_t at = builder->stack_count;

	if (!builder->only.patterns)
		return false;
	builder->is_left_out = array_grow(builder->is_left_out, at, &builder->left_out_capacity,
					  sizeof *builder->is_left_out);
	return builder->is_left_out[at] = only_leaves_out(&builder->only, outermost->function);
}

/* Ids come in order, and without gaps. */
static int read_stack(void *context, const struct recording_stack *row)
{
	struct builder *builder = context;
	struct folded stack = parent_of(builder, row);
	struct pushing pushing = { .builder = builder };

	pushing.locations = names_of_frame(builder->names, row->frame, &pushing.count);
	/* Where functions are left out, the outermost ones may be. */
	if (row->parent && !stack.shown.n && !builder->only.patterns)
		return damaged(builder, "stack", row->id, "stack", row->parent);
	if (!pushing.count)
		return damaged(builder, "stack", row->id, "frame", row->frame);
	if (is_left_out(builder, &pushing.locations[pushing.count - 1])) {
		keep_stack(builder, &stack);
		return 0;
	}
	if (folding_is_on(builder->folding)) {
		const struct named_function *function =
			&builder->names
				 ->functions[pushing.locations[pushing.count - 1].function];

		stack = fold(&stack, folding_role(builder->folding, function), push, &pushing);
	} else {
		stack.shown = push(&pushing, stack.shown);
	}
	keep_stack(builder, &stack);
	return 0;
}

/* Of a row of fathom's own: no sample stands for the time. */
static bool is_without_samples(const struct profile *profile, struct stack_id stack)
{
	const struct frame *leaf =
		profile_get_frame(profile, profile_get_stack(profile, stack)->frame);

	return profile_get_function(profile, leaf->function)->language == LANGUAGE_FATHOM;
}

static int read_sum(void *context, const struct recording_sum *row)
{
	struct builder *builder = context;
	struct profile_info *info = profile_info(builder->profile);
	struct thread_id thread = { id_of(&builder->threads, row->thread) };
	struct stack_id stack = stack_of(builder, row->stack);
	uint64_t ns = row->weight_ns > 0 ? (uint64_t)row->weight_ns : 0;

	if (!thread.n)
		return damaged(builder, "a sum of thread", row->thread, "thread", row->thread);
	if (row->stack && !stack.n)
		return damaged(builder, "a sum of thread", row->thread, "stack", row->stack);
	const bool is_sampled = !stack.n || !is_without_samples(builder->profile, stack);
	uint64_t *part = is_sampled ? &info->sampled_ns : &info->thread_only_ns;

	if (__builtin_add_overflow(*part, ns, part))
		*part = FIGURE_UNKNOWN - 1;
	if (!stack.n) {
		cpu_account_add_row(builder->profile, thread, "[stack lost]", ns, row->samples);
		return 0;
	}
	profile_add_weight(builder->profile,
			   &(struct weight){
				   .stack = stack,
				   .thread = thread,
				   .state = row->state < THREAD_STATE_COUNT
						    ? (enum thread_state)row->state
						    : THREAD_STATE_RUNNING,
				   .ns = ns,
				   .samples = is_sampled ? row->samples : 0,
			   });
	return 0;
}

static void builder_done(struct builder *builder)
{
	intern_done(&builder->strings);
	table_done(&builder->modules);
	table_done(&builder->processes);
	table_done(&builder->threads);
	free(builder->stacks);
	free(builder->bases);
	free(builder->is_left_out);
	only_done(&builder->only);
	table_done(&builder->module_mappings);
	table_done(&builder->process_rows_by_id);
	free(builder->mappings);
	free(builder->process_rows);
	free(builder->thread_rows);
	free(builder->functions);
}

/* Reads the rows in the order in which they name each other. */
static int build(struct builder *builder, struct recording_reader *reader)
{
	struct error *err = builder->err;
	int rc = recording_reader_each_mapping(reader, read_mapping, builder, err);

	if (rc == 0)
		rc = recording_reader_each_module(reader, read_module, builder, err);
	if (rc == 0)
		rc = recording_reader_each_process(reader, read_process, builder, err);
	if (rc == 0)
		rc = recording_reader_each_interpreter(reader, read_interpreter, builder, err);
	if (rc == 0)
		rc = recording_reader_each_thread(reader, read_thread, builder, err);
	if (rc < 0)
		return rc;
	add_processes(builder);
	add_threads(builder);
	rc = recording_reader_each_stack(reader, read_stack, builder, err);
	if (rc == 0)
		rc = recording_reader_each_sum(reader, read_sum, builder, err);
	if (rc == 0)
		rc = build_calls(reader,
				 &(struct build_calls_terms){
					 .profile = builder->profile,
					 .threads = &builder->threads,
					 .stacks = builder->stacks,
					 .stack_count = builder->stack_count,
					 .is_left_out = builder->is_left_out,
					 .has_raw_times = builder->has_raw_times,
				 },
				 err);
	return rc;
}

int build_profile(struct recording_reader *reader, const struct build_terms *terms,
		  struct profile *profile, struct error *err)
{
	const struct names *names = terms->names;
	struct builder builder = { .profile = profile,
				   .names = names,
				   .folding = terms->folding,
				   .has_raw_times = terms->has_raw_times,
				   .err = err };
	const char *children = recording_reader_get(reader, KEY_CHILDREN);

	builder.is_without_children = children && strcmp(children, "0") == 0;
	builder.functions =
		xreallocarray(NULL, names->function_count + 1, sizeof *builder.functions);
	memset(builder.functions, 0, (names->function_count + 1) * sizeof *builder.functions);
	only_init(&builder.only, profile, names);
	cpu_account_open(profile);
	int rc = build(&builder, reader);

	cpu_account_close(profile);
	builder_done(&builder);
	return rc;
}
