#include "load/build_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/agent_path.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "load/build_internal.h"
#include "load/fold.h"
#include "load/names.h"
#include "load/wait_names.h"
#include "profile/import_name.h"
#include "record/reader.h"

/* The base for frames further in (struct folded), packed: ids never come near 2^27. */
struct stack_base {
	uint32_t stack : 27;
	uint32_t outside : 2; /* enum fold_outside */
	uint32_t languages : FOLD_LANGUAGE_BITS;
	uint32_t is_importing : 1;
};

static int read_mapping(void *context, const struct recording_mapping *row)
{
	struct build_stacks *stacks = context;
	bool is_new = false;
	uint64_t *place = table_at(&stacks->module_mappings, 0, row->module, &is_new);

	if (!is_new)
		return 0;
	stacks->mappings = array_grow(stacks->mappings, stacks->mapping_count,
				      &stacks->mapping_capacity, sizeof *stacks->mappings);
	stacks->mappings[stacks->mapping_count++] = *row;
	*place = stacks->mapping_count;
	return 0;
}

/* Names of modules without a file. */
static const char *const kind_names[] = {
	[MODULE_KIND_ELF] = "[unknown]",   [MODULE_KIND_VDSO] = "[vdso]",
	[MODULE_KIND_JIT] = "[jit]",       [MODULE_KIND_UNKNOWN] = "[unknown]",
	[MODULE_KIND_KERNEL] = "[kernel]", [MODULE_KIND_INTERPRETED] = "[interpreted]",
};

static int read_module(void *context, const struct recording_module *row)
{
	struct build_stacks *stacks = context;
	size_t kind = (size_t)row->kind;
	bool has_file = row->kind == MODULE_KIND_ELF || row->kind == MODULE_KIND_VDSO;
	uint32_t mapping = build_id_of(&stacks->module_mappings, row->id);
	struct module module = { .path = row->path };

	if (!module.path || !*module.path)
		module.path = kind < sizeof kind_names / sizeof kind_names[0] ? kind_names[kind]
									      : "[unknown]";
	module.build_id_len =
		row->build_id_len <= sizeof module.build_id ? row->build_id_len : 0;
	memcpy(module.build_id, row->build_id, module.build_id_len);
	/* JIT code is shown as one module, in however many pieces it was mapped. */
	if (has_file && mapping) {
		module.start = stacks->mappings[mapping - 1].start;
		module.end = stacks->mappings[mapping - 1].end;
		module.file_offset = stacks->mappings[mapping - 1].file_offset;
	}
	*table_at(&stacks->modules, 0, row->id, NULL) =
		profile_add_module(stacks->profile, &module).n;
	if (path_is_agent(module.path))
		*table_at(&stacks->agents, 0, row->id, NULL) = 1;
	return 0;
}

static enum language language_of(const struct named_function *named)
{
	return named->language < LANGUAGE_COUNT ? (enum language)named->language
						: LANGUAGE_NATIVE;
}

static struct function_id add_function(struct build_stacks *stacks, uint32_t index)
{
	struct function_id *known = &stacks->functions[index];
	const struct named_function *named = &stacks->names->functions[index];

	if (known->n)
		return *known;
	*known = profile_add_function(
		stacks->profile,
		&(struct function){
			.language = language_of(named),
			.module = { build_id_of(&stacks->modules, named->module) },
			.name = named->name,
			.file = named->file,
			.line = named->line,
			.plain_name = named->plain_name,
		});
	return *known;
}

/*
 * Collects the folders of packages: Python executes a package's __init__.py before its modules.
 */
static void find_packages(struct build_stacks *stacks)
{
	static const char init[] = "/__init__.py";

	for (size_t i = 0; i < stacks->names->function_count; i++) {
		const char *file = stacks->names->functions[i].file;
		const size_t len = file ? strlen(file) : 0;

		if (len >= sizeof init && strcmp(file + len - strlen(init), init) == 0)
			intern_add(&stacks->packages, file, len - strlen(init));
	}
}

/* Where a module's name begins in its file's path: at the outermost of the packages around it. */
static size_t find_root(const struct build_stacks *stacks, const char *file)
{
	const char *slash = strrchr(file, '/');
	size_t root = 0;

	while (slash && intern_find(&stacks->packages, file, (size_t)(slash - file))) {
		slash = memrchr(file, '/', (size_t)(slash - file));
		root = slash ? (size_t)(slash + 1 - file) : 0;
	}
	return root;
}

/* The function of a module's code while it is imported: "import json.decoder". */
static struct function_id add_import(struct build_stacks *stacks, uint32_t index)
{
	const struct named_function *named = &stacks->names->functions[index];
	CLEANUP(text_done) struct text name = { 0 };

	if (!stacks->imports) {
		stacks->imports =
			xzalloc((stacks->names->function_count + 1) * sizeof *stacks->imports);
		find_packages(stacks);
	}
	if (stacks->imports[index].n)
		return stacks->imports[index];
	import_name_add(&name, named->file, find_root(stacks, named->file));
	stacks->imports[index] =
		profile_add_function(stacks->profile, &(struct function){
							      .language = language_of(named),
							      .name = text_string(&name),
							      .file = named->file,
							      .line = named->line,
						      });
	return stacks->imports[index];
}

/* The function of a system call: what it waits for may be known by its callers only. */
static struct function_id add_call(struct build_stacks *stacks, struct stack_id callers,
				   uint32_t index)
{
	const struct named_function *named = &stacks->names->functions[index];
	CLEANUP(text_done) struct text name = { 0 };

	if (!wait_names_add(stacks->profile, callers, named->name, &name))
		return add_function(stacks, index);
	return profile_add_function(
		stacks->profile,
		&(struct function){ .language = language_of(named),
				    .module = { build_id_of(&stacks->modules, named->module) },
				    .name = text_string(&name) });
}

static struct frame_id add_frame(struct build_stacks *stacks, struct stack_id callers,
				 const struct named_location *location, bool is_inlined,
				 bool is_import)
{
	const struct named_function *named = &stacks->names->functions[location->function];
	bool is_same_file =
		location->file && named->file && strcmp(location->file, named->file) == 0;

	return profile_add_frame(
		stacks->profile,
		&(struct frame){
			.function = is_import ? add_import(stacks, location->function)
				    : language_of(named) == LANGUAGE_KERNEL
					    ? add_call(stacks, callers, location->function)
					    : add_function(stacks, location->function),
			.line = location->line,
			.file = is_same_file ? NULL : location->file,
			.address = location->address,
			.is_inlined = is_inlined,
		});
}

/* The locations of one frame, innermost first, that push() puts on a stack. */
struct pushing {
	struct build_stacks *stacks;
	const struct named_location *locations;
	size_t count;
	bool is_import;
};

static struct stack_id push(void *context, struct stack_id stack)
{
	const struct pushing *it = context;

	for (size_t i = it->count; i-- > 0;)
		stack = profile_add_stack(it->stacks->profile, stack,
					  add_frame(it->stacks, stack, &it->locations[i],
						    i + 1 < it->count, it->is_import));
	return stack;
}

/*
 * The row that frames further in are added to: not the agent's, whose functions are between the
 * program and the C library's functions that they replace.  Time spent in them stays theirs.
 */
static uint32_t parent_id(const struct build_stacks *stacks, const struct recording_stack *row)
{
	uint64_t id = row->parent;

	table_get(&stacks->agent_rows, 0, row->parent, &id);
	return (uint32_t)id;
}

static void note_agents_row(struct build_stacks *stacks, uint32_t id, uint32_t parent,
			    const struct named_location *outermost)
{
	const uint32_t module = stacks->names->functions[outermost->function].module;
	uint64_t is_agents = 0;

	if (!stacks->folding->is_off && table_get(&stacks->agents, 0, module, &is_agents))
		*table_at(&stacks->agent_rows, 0, id, NULL) = parent;
}

static struct folded parent_of(const struct build_stacks *stacks, uint32_t id)
{
	struct folded parent = { .shown = build_stack_of(stacks, id) };

	if (stacks->bases && parent.shown.n) {
		const struct stack_base *base = &stacks->bases[id - 1];

		parent.base.n = base->stack;
		parent.outside = (enum fold_outside)base->outside;
		parent.languages = base->languages;
		parent.is_importing = base->is_importing;
	}
	return parent;
}

static void keep_stack(struct build_stacks *stacks, const struct folded *folded)
{
	if (folding_is_on(stacks->folding)) {
		stacks->bases = array_grow(stacks->bases, stacks->count, &stacks->base_capacity,
					   sizeof *stacks->bases);
		stacks->bases[stacks->count] = (struct stack_base){
			.stack = folded->base.n & 0x7ffffff,
			.outside = folded->outside & 3,
			.languages = folded->languages & 3U,
			.is_importing = folded->is_importing,
		};
	}
	stacks->ids =
		array_grow(stacks->ids, stacks->count, &stacks->capacity, sizeof *stacks->ids);
	stacks->ids[stacks->count++] = folded->shown;
}

/* Whether the function was not to be counted: the stack is its caller's then. */
static bool is_left_out(struct build_stacks *stacks, const struct named_location *outermost)
{
	const size_t at = stacks->count;

	if (!stacks->only.patterns)
		return false;
	stacks->is_left_out = array_grow(stacks->is_left_out, at, &stacks->left_out_capacity,
					 sizeof *stacks->is_left_out);
	return stacks->is_left_out[at] = only_leaves_out(&stacks->only, outermost->function);
}

/* Ids come in order, and without gaps. */
static int read_stack(void *context, const struct recording_stack *row)
{
	struct build_stacks *stacks = context;
	const uint32_t parent = parent_id(stacks, row);
	struct folded stack = parent_of(stacks, parent);
	struct pushing pushing = { .stacks = stacks };

	pushing.locations = names_of_frame(stacks->names, row->frame, &pushing.count);
	/* The outermost functions may be left out, so that a parent has no stack. */
	if (parent && !stack.shown.n && !stacks->only.patterns)
		return build_damaged(stacks->err, "stack", row->id, "stack", parent);
	if (!pushing.count)
		return build_damaged(stacks->err, "stack", row->id, "frame", row->frame);
	note_agents_row(stacks, row->id, parent, &pushing.locations[pushing.count - 1]);
	if (is_left_out(stacks, &pushing.locations[pushing.count - 1])) {
		keep_stack(stacks, &stack);
		return 0;
	}
	if (folding_is_on(stacks->folding)) {
		const struct named_function *function =
			&stacks->names
				 ->functions[pushing.locations[pushing.count - 1].function];

		const struct fold_role role = folding_role(stacks->folding, function);

		pushing.is_import = fold_is_import(&stack, role);
		stack = fold(&stack, role, push, &pushing);
	} else {
		stack.shown = push(&pushing, stack.shown);
	}
	keep_stack(stacks, &stack);
	return 0;
}

void build_stacks_begin(struct build_stacks *stacks)
{
	const size_t count = stacks->names->function_count + 1;

	stacks->functions = xzalloc(count * sizeof *stacks->functions);
	only_init(&stacks->only, stacks->profile, stacks->names);
}

int build_stacks_modules(struct build_stacks *stacks, struct recording_reader *reader)
{
	const int rc = recording_reader_each_mapping(reader, read_mapping, stacks, stacks->err);

	return rc == 0 ? recording_reader_each_module(reader, read_module, stacks, stacks->err)
		       : rc;
}

int build_stacks_read(struct build_stacks *stacks, struct recording_reader *reader)
{
	return recording_reader_each_stack(reader, read_stack, stacks, stacks->err);
}

void build_stacks_done(struct build_stacks *stacks)
{
	table_done(&stacks->modules);
	table_done(&stacks->agents);
	table_done(&stacks->agent_rows);
	free(stacks->ids);
	free(stacks->bases);
	free(stacks->is_left_out);
	only_done(&stacks->only);
	table_done(&stacks->module_mappings);
	free(stacks->mappings);
	free(stacks->functions);
	free(stacks->imports);
	intern_done(&stacks->packages);
}
