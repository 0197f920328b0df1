#include "profile/profile.h"

#include <string.h>

#include "base/memory.h"
#include "profile/profile_internal.h"

struct profile *profile_new(void)
{
	struct profile *profile = xzalloc(sizeof *profile);

	profile->info.start_unix_ns = FIGURE_UNKNOWN;
	profile->info.kernel_cpu_ns = FIGURE_UNKNOWN;
	profile->info.sampling_cost_ns = FIGURE_UNKNOWN;
	profile->info.paused_ns = FIGURE_UNKNOWN;
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	intern_done(&profile->strings);
	intern_done(&profile->function_keys);
	intern_done(&profile->frame_keys);
	table_done(&profile->module_index);
	stack_set_done(&profile->stacks);
	table_done(&profile->weight_index);
	freep(&profile->modules);
	freep(&profile->functions);
	freep(&profile->frames);
	freep(&profile->processes);
	freep(&profile->threads);
	time_slots_done(&profile->time_slots);
	freep(&profile->weights);
	freep(&profile->call_times);
	sequence_done(&profile->sequence);
	freep(&profile);
}

void profile_freep(struct profile **profile)
{
	profile_free(*profile);
	*profile = NULL;
}

struct profile_info *profile_info(struct profile *profile)
{
	return &profile->info;
}

const struct profile_info *profile_get_info(const struct profile *profile)
{
	return &profile->info;
}

bool profile_is_trace(const struct profile *profile)
{
	const char *mode = profile_get_info(profile)->mode;

	return mode && strcmp(mode, "trace") == 0;
}

bool profile_is_saturated(const struct profile *profile)
{
	return profile->is_saturated;
}

static const char *string_of(const struct profile *profile, uint32_t id)
{
	return intern_get(&profile->strings, id, NULL);
}

const char *profile_copy_string(struct profile *profile, const char *string)
{
	return string_of(profile, intern_string(&profile->strings, string));
}

void *profile_alloc(struct profile *profile, size_t size)
{
	return arena_alloc(&profile->strings.arena, size);
}

/* Interns strings that are never NULL. */
static uint32_t intern_name(struct profile *profile, const char *name)
{
	return intern_string(&profile->strings, name ? name : "");
}

struct module_id profile_add_module(struct profile *profile, const struct module *module)
{
	/* The build id is part of the key: two files may have the same path. */
	size_t len = module->build_id_len;
	if (len > sizeof module->build_id)
		len = sizeof module->build_id;
	uint32_t path = intern_name(profile, module->path);
	uint32_t build_id = intern_add(&profile->strings, module->build_id, len);
	bool is_new;
	uint64_t *id = table_at(&profile->module_index, path, build_id, &is_new);
	if (!is_new)
		return (struct module_id){ (uint32_t)*id };

	profile->modules = array_grow(profile->modules, profile->module_count,
				      &profile->module_capacity, sizeof *profile->modules);
	struct module *copy = &profile->modules[profile->module_count++];
	*copy = *module;
	copy->path = string_of(profile, path);
	copy->build_id_len = (uint8_t)len;
	*id = profile->module_count;
	return (struct module_id){ (uint32_t)*id };
}

struct function_id profile_add_function(struct profile *profile,
					const struct function *function)
{
	uint32_t name = intern_name(profile, function->name);
	uint32_t file = intern_string(&profile->strings, function->file);
	uint32_t key[] = { (uint32_t)function->language, function->module.n, name, file,
			   function->line };
	uint32_t id = intern_add(&profile->function_keys, key, sizeof key);
	if (id <= profile->function_count)
		return (struct function_id){ id };

	profile->functions =
		array_grow(profile->functions, profile->function_count,
			   &profile->function_capacity, sizeof *profile->functions);
	struct function *copy = &profile->functions[profile->function_count++];
	*copy = *function;
	copy->name = string_of(profile, name);
	copy->file = string_of(profile, file);
	copy->plain_name = profile_copy_string(profile, function->plain_name);
	if (!profile_get_module(profile, copy->module))
		copy->module = (struct module_id){ 0 };
	return (struct function_id){ id };
}

/* A frame always has a function, so that reports need not check. */
static struct function_id known_function(struct profile *profile, struct function_id id)
{
	if (profile_get_function(profile, id))
		return id;
	return profile_add_function(profile, &(struct function){ .language = LANGUAGE_FATHOM,
								 .name = "[unknown]" });
}

struct frame_id profile_add_frame(struct profile *profile, const struct frame *frame)
{
	struct function_id function = known_function(profile, frame->function);
	uint32_t file = intern_string(&profile->strings, frame->file);
	uint32_t key[] = { function.n,
			   frame->line,
			   file,
			   (uint32_t)frame->address,
			   (uint32_t)(frame->address >> 32),
			   frame->is_inlined };
	uint32_t id = intern_add(&profile->frame_keys, key, sizeof key);
	if (id <= profile->frame_count)
		return (struct frame_id){ id };

	profile->frames = array_grow(profile->frames, profile->frame_count,
				     &profile->frame_capacity, sizeof *profile->frames);
	struct frame *copy = &profile->frames[profile->frame_count++];
	*copy = *frame;
	copy->function = function;
	copy->file = string_of(profile, file);
	return (struct frame_id){ id };
}

static struct frame_id known_frame(struct profile *profile, struct frame_id id)
{
	if (profile_get_frame(profile, id))
		return id;
	return profile_add_frame(profile, &(struct frame){ .line = 0 });
}

struct stack_id profile_add_stack(struct profile *profile, struct stack_id parent,
				  struct frame_id frame)
{
	if (!profile_get_stack(profile, parent))
		parent = (struct stack_id){ 0 };
	return stack_set_add(&profile->stacks, parent, known_frame(profile, frame));
}

struct process_id profile_add_process(struct profile *profile, const struct process *process)
{
	uint32_t name = intern_name(profile, process->name);
	uint32_t reason = intern_string(&profile->strings, process->unentered_reason);

	profile->processes = array_grow(profile->processes, profile->process_count,
					&profile->process_capacity, sizeof *profile->processes);
	struct process *copy = &profile->processes[profile->process_count++];
	*copy = *process;
	copy->name = string_of(profile, name);
	copy->unentered_reason = string_of(profile, reason);
	copy->title = profile_copy_string(profile, process->title);
	copy->interpreter = profile_copy_string(profile, process->interpreter);
	return (struct process_id){ (uint32_t)profile->process_count };
}

struct thread_id profile_add_thread(struct profile *profile, const struct thread *thread)
{
	uint32_t name = intern_name(profile, thread->name);

	profile->threads = array_grow(profile->threads, profile->thread_count,
				      &profile->thread_capacity, sizeof *profile->threads);
	struct thread *copy = &profile->threads[profile->thread_count++];
	*copy = *thread;
	copy->name = string_of(profile, name);
	if (!profile_get_process(profile, copy->process))
		copy->process = (struct process_id){ 0 };
	return (struct thread_id){ (uint32_t)profile->thread_count };
}

size_t profile_module_count(const struct profile *profile)
{
	return profile->module_count;
}

size_t profile_function_count(const struct profile *profile)
{
	return profile->function_count;
}

size_t profile_frame_count(const struct profile *profile)
{
	return profile->frame_count;
}

size_t profile_stack_count(const struct profile *profile)
{
	return profile->stacks.count;
}

size_t profile_process_count(const struct profile *profile)
{
	return profile->process_count;
}

size_t profile_thread_count(const struct profile *profile)
{
	return profile->thread_count;
}

size_t profile_weight_count(const struct profile *profile)
{
	return profile->weight_count;
}

/* Id 0 becomes the largest index, so one comparison rejects it too. */
#define AT(list, count, id) ((uint32_t)((id).n - 1) < (count) ? &(list)[(id).n - 1] : NULL)

const struct module *profile_get_module(const struct profile *profile, struct module_id id)
{
	return AT(profile->modules, profile->module_count, id);
}

const struct function *profile_get_function(const struct profile *profile,
					    struct function_id id)
{
	return AT(profile->functions, profile->function_count, id);
}

const struct frame *profile_get_frame(const struct profile *profile, struct frame_id id)
{
	return AT(profile->frames, profile->frame_count, id);
}

const struct stack *profile_get_stack(const struct profile *profile, struct stack_id id)
{
	return AT(profile->stacks.stacks, profile->stacks.count, id);
}

const struct process *profile_get_process(const struct profile *profile, struct process_id id)
{
	return AT(profile->processes, profile->process_count, id);
}

const struct thread *profile_get_thread(const struct profile *profile, struct thread_id id)
{
	return AT(profile->threads, profile->thread_count, id);
}

const struct weight *profile_get_weight(const struct profile *profile, size_t i)
{
	return i < profile->weight_count ? &profile->weights[i] : NULL;
}
