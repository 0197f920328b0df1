#include "load/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "load/build_calls.h"
#include "load/build_internal.h"
#include "load/build_processes.h"
#include "load/cpu_account.h"
#include "load/fold.h"
#include "load/names.h"
#include "load/only.h"
#include "profile/profile.h"
#include "record/reader.h"

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
	bool has_raw_times;

	/* The recording's ids to the profile's. */
	struct table modules, threads;
	struct stack_id *stacks; /* by id - 1: there are tens of millions in some */
	size_t stack_count, stack_capacity;
	struct stack_base *bases; /* the same; none where nothing is folded */
	size_t base_capacity;
	bool *is_left_out; /* the same: its calls were not to be counted; none unless some were */
	size_t left_out_capacity;
	struct table module_mappings; /* a module to the index + 1 of its first mapping */
	struct recording_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct function_id *functions; /* by index of names; none until first used */
};

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
	uint32_t mapping = build_id_of(&builder->module_mappings, row->id);
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
		builder->profile,
		&(struct function){
			.language = language_of(named),
			.module = { build_id_of(&builder->modules, named->module) },
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
		return build_damaged(builder->err, "stack", row->id, "stack", row->parent);
	if (!pushing.count)
		return build_damaged(builder->err, "stack", row->id, "frame", row->frame);
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

/* The part of the account that a stack's time is of: with a row of fathom's own, no sample's. */
static uint64_t *part_of(struct profile *profile, struct stack_id stack)
{
	struct profile_info *info = profile_info(profile);

	if (!stack.n)
		return &info->sampled_ns;
	const struct frame *leaf =
		profile_get_frame(profile, profile_get_stack(profile, stack)->frame);
	const struct function *function = profile_get_function(profile, leaf->function);

	if (function->language != LANGUAGE_FATHOM)
		return &info->sampled_ns;
	return strcmp(function->name, "[lost]") == 0 ? &info->lost_ns : &info->thread_only_ns;
}

static int read_sum(void *context, const struct recording_sum *row)
{
	struct builder *builder = context;
	struct profile_info *info = profile_info(builder->profile);
	struct thread_id thread = { build_id_of(&builder->threads, row->thread) };
	struct stack_id stack = stack_of(builder, row->stack);
	uint64_t ns = row->weight_ns > 0 ? (uint64_t)row->weight_ns : 0;

	if (!thread.n)
		return build_damaged(builder->err, "a sum of thread", row->thread, "thread",
				     row->thread);
	if (row->stack && !stack.n)
		return build_damaged(builder->err, "a sum of thread", row->thread, "stack",
				     row->stack);
	uint64_t *part = part_of(builder->profile, stack);
	const bool is_sampled = part == &info->sampled_ns;

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
	table_done(&builder->modules);
	table_done(&builder->threads);
	free(builder->stacks);
	free(builder->bases);
	free(builder->is_left_out);
	only_done(&builder->only);
	table_done(&builder->module_mappings);
	free(builder->mappings);
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
		rc = build_processes(reader, builder->profile, &builder->threads, err);
	if (rc == 0)
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
