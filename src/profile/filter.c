#include "profile/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/sum.h"

struct filter {
	bool *keeps_thread; /* by thread id, 0 for none; NULL: all */
	bool *keeps_stack;  /* by stack id; NULL: all */
	struct text description;
	uint64_t kept_ns, whole_ns;
};

/* A sentence names a few of many. */
enum { NAMED_MAX = 5 };

/* The part after the last '/'. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_name(struct text *list, size_t *count, const char *name)
{
	++*count;
	if (*count > NAMED_MAX + 1)
		return;
	if (*count > 1)
		text_add(list, ", ");
	if (*count <= NAMED_MAX)
		text_add_printable(list, name, strlen(name));
	else
		text_add(list, "…");
}

static bool is_named_before(const struct profile *profile, size_t i, const char *name)
{
	for (size_t k = 1; k < i; k++) {
		const struct thread *other =
			profile_get_thread(profile, (struct thread_id){ (uint32_t)k });
		if (strcmp(other->name, name) == 0)
			return true;
	}
	return false;
}

static int no_such_thread(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (size_t i = 1; i <= profile_thread_count(profile) && count <= NAMED_MAX; i++) {
		const struct thread *thread =
			profile_get_thread(profile, (struct thread_id){ (uint32_t)i });
		if (!is_named_before(profile, i, thread->name))
			add_name(&list, &count, thread->name);
	}
	if (count == 0)
		return error_set(err, -ENOENT, "no thread \"%s\": this profile has no threads",
				 wanted);
	return error_set(err, -ENOENT,
			 "no thread has the name or the tid \"%s\"; there are: %s (--by thread "
			 "lists all with their tids)",
			 wanted, text_string(&list));
}

static void describe_threads(struct text *description, bool is_tid, const struct thread *one,
			     size_t count)
{
	size_t len = strlen(one->name);

	if (is_tid && count > 1) {
		text_addf(description, "the %zu threads with the tid %d", count, one->tid);
	} else if (is_tid) {
		text_addf(description, "thread %d (", one->tid);
		text_add_printable(description, one->name, len);
		text_add(description, ")");
	} else if (count == 1) {
		text_add(description, "thread ");
		text_add_printable(description, one->name, len);
		text_addf(description, " (tid %d)", one->tid);
	} else {
		text_addf(description, "the %zu threads named ", count);
		text_add_printable(description, one->name, len);
	}
}

/* A tid first; what is no tid of this profile may still be a name. */
static int choose_threads(struct filter *filter, const struct profile *profile,
			  const char *wanted, struct error *err)
{
	size_t threads = profile_thread_count(profile);
	char *end;
	errno = 0;
	long tid = strtol(wanted, &end, 10);
	bool may_be_tid = *wanted && !*end && errno == 0 && tid > 0;

	filter->keeps_thread = xzalloc((threads + 1) * sizeof *filter->keeps_thread);
	for (int by_tid = may_be_tid; by_tid >= 0; by_tid--) {
		const struct thread *one = NULL;
		size_t count = 0;
		for (uint32_t i = 1; i <= threads; i++) {
			const struct thread *thread =
				profile_get_thread(profile, (struct thread_id){ i });
			if (by_tid ? thread->tid != tid : strcmp(thread->name, wanted) != 0)
				continue;
			filter->keeps_thread[i] = true;
			one = thread;
			count++;
		}
		if (count > 0) {
			describe_threads(&filter->description, by_tid, one, count);
			return 0;
		}
	}
	return no_such_thread(profile, wanted, err);
}

/* From the closest match to the loosest; the first that any module meets decides. */
static bool is_path(const char *path, const char *wanted)
{
	return strcmp(path, wanted) == 0;
}

static bool is_base_name(const char *path, const char *wanted)
{
	return strcmp(base_name(path), wanted) == 0;
}

static bool begins_base_name(const char *path, const char *wanted)
{
	return strncmp(base_name(path), wanted, strlen(wanted)) == 0;
}

static bool is_in_path(const char *path, const char *wanted)
{
	return strstr(path, wanted) != NULL;
}

static int no_such_module(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (uint32_t i = 1; i <= profile_module_count(profile); i++)
		add_name(&list, &count,
			 base_name(profile_get_module(profile, (struct module_id){ i })->path));
	if (count == 0)
		return error_set(err, -ENOENT, "no module \"%s\": this profile has no modules",
				 wanted);
	return error_set(err, -ENOENT,
			 "no module is named \"%s\"; there are: %s (--by module lists all)",
			 wanted, text_string(&list));
}

/* The modules that a tier fits, and the functions in them. */
struct choice {
	bool *is_meant; /* by function id */
	struct text *description;
	size_t count; /* of modules */
};

static void choose_module(struct choice *choice, const struct profile *profile,
			  struct module_id module)
{
	for (uint32_t i = 1; i <= profile_function_count(profile); i++)
		if (profile_get_function(profile, (struct function_id){ i })->module.n ==
		    module.n)
			choice->is_meant[i] = true;
	add_name(choice->description, &choice->count,
		 base_name(profile_get_module(profile, module)->path));
}

/* What Python and Ruby functions are in is their file. */
static void choose_file(struct choice *choice, const struct profile *profile, const char *file)
{
	for (uint32_t i = 1; i <= profile_function_count(profile); i++) {
		const struct function *function =
			profile_get_function(profile, (struct function_id){ i });

		if (function->module.n == 0 && function->file == file)
			choice->is_meant[i] = true;
	}
	add_name(choice->description, &choice->count, base_name(file));
}

static int choose_modules(const struct profile *profile, const char *wanted,
			  struct choice *choice, struct error *err)
{
	static bool (*const tiers[])(const char *path,
				     const char *wanted) = { is_path, is_base_name,
							     begins_base_name, is_in_path };

	text_add(choice->description, "code of ");
	for (size_t tier = 0; tier < sizeof tiers / sizeof *tiers && *wanted; tier++) {
		for (uint32_t i = 1; i <= profile_module_count(profile); i++) {
			struct module_id id = { i };

			if (tiers[tier](profile_get_module(profile, id)->path, wanted))
				choose_module(choice, profile, id);
		}
		for (uint32_t i = 1; i <= profile_function_count(profile); i++) {
			const struct function *function =
				profile_get_function(profile, (struct function_id){ i });

			if (!choice->is_meant[i] && function->module.n == 0 && function->file &&
			    tiers[tier](function->file, wanted))
				choose_file(choice, profile, function->file);
		}
		if (choice->count > 0)
			return 0;
	}
	return no_such_module(profile, wanted, err);
}

static int choose_stacks(struct filter *filter, const struct profile *profile,
			 const char *wanted, struct error *err)
{
	CLEANUP(freep)
	bool *is_meant = xzalloc((profile_function_count(profile) + 1) * sizeof *is_meant);
	struct choice choice = { .is_meant = is_meant, .description = &filter->description };

	if (filter->description.len > 0)
		text_add(&filter->description, ", ");
	int rc = choose_modules(profile, wanted, &choice, err);
	if (rc < 0)
		return rc;

	size_t stacks = profile_stack_count(profile);
	filter->keeps_stack = xzalloc((stacks + 1) * sizeof *filter->keeps_stack);
	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });

		filter->keeps_stack[i] =
			is_meant[profile_get_frame(profile, stack->frame)->function.n];
	}
	return 0;
}

static void sum_up(struct filter *filter, const struct profile *profile)
{
	bool is_saturated = false;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		sum_add(&filter->whole_ns, weight->ns, &is_saturated);
		if (filter_keeps(filter, weight))
			sum_add(&filter->kept_ns, weight->ns, &is_saturated);
	}
}

int filter_new(const struct profile *profile, const struct filter_options *options,
	       struct filter **out_filter, struct error *err)
{
	*out_filter = NULL;
	if (!options->thread && !options->module)
		return 0;

	CLEANUP(filter_freep) struct filter *filter = xzalloc(sizeof *filter);
	int rc = 0;
	if (options->thread)
		rc = choose_threads(filter, profile, options->thread, err);
	if (rc == 0 && options->module)
		rc = choose_stacks(filter, profile, options->module, err);
	if (rc < 0)
		return rc;

	sum_up(filter, profile);
	*out_filter = filter;
	filter = NULL; /* now the caller's */
	return 0;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	freep(&filter->keeps_thread);
	freep(&filter->keeps_stack);
	text_done(&filter->description);
	freep(&filter);
}

void filter_freep(struct filter **filter)
{
	filter_free(*filter);
	*filter = NULL;
}

bool filter_keeps(const struct filter *filter, const struct weight *weight)
{
	if (!filter)
		return true;
	if (filter->keeps_thread && !filter->keeps_thread[weight->thread.n])
		return false;
	return !filter->keeps_stack || filter->keeps_stack[weight->stack.n];
}

const char *filter_description(const struct filter *filter)
{
	return text_string(&filter->description);
}

uint64_t filter_kept_ns(const struct filter *filter)
{
	return filter->kept_ns;
}

uint64_t filter_whole_ns(const struct filter *filter)
{
	return filter->whole_ns;
}
