#include "profile/filter.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/filter_internal.h"
#include "profile/idle.h"
#include "profile/profile.h"
#include "profile/sum.h"

struct filter {
	bool *keeps_thread; /* by thread id, 0 for none; NULL: all */
	bool *keeps_stack;  /* by stack id; NULL: all */
	bool *is_idle;      /* by thread id: excluded from the whole, too; NULL: none */
	struct idle idle;   /* the threads in is_idle */
	uint32_t states;    /* a bit for each excluded state */
	struct text description;
	uint64_t kept_ns, whole_ns;
};

void filter_add_name(struct text *list, size_t *count, const char *name)
{
	++*count;
	if (*count > FILTER_NAMED_MAX + 1)
		return;
	if (*count > 1)
		text_add(list, ", ");
	if (*count <= FILTER_NAMED_MAX)
		text_add_printable(list, name, strlen(name));
	else
		text_add(list, "…");
}

typedef int choose_functions(const struct profile *profile, const char *wanted, bool *is_meant,
			     struct text *description, struct error *err);

/* Of the stacks kept so far, keeps those whose innermost function matches. */
static int choose_stacks(struct filter *filter, const struct profile *profile,
			 choose_functions *choose, const char *wanted, struct error *err)
{
	const size_t stacks = profile_stack_count(profile);
	CLEANUP(freep)
	bool *is_meant = xzalloc((profile_function_count(profile) + 1) * sizeof *is_meant);

	if (filter->description.len > 0)
		text_add(&filter->description, ", ");
	int rc = choose(profile, wanted, is_meant, &filter->description, err);
	if (rc < 0)
		return rc;

	if (!filter->keeps_stack) {
		filter->keeps_stack = xzalloc((stacks + 1) * sizeof *filter->keeps_stack);
		memset(filter->keeps_stack + 1, true, stacks);
	}
	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });

		filter->keeps_stack[i] &=
			is_meant[profile_get_frame(profile, stack->frame)->function.n];
	}
	return 0;
}

static int no_such_state(const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };

	for (int state = 0; state < THREAD_STATE_COUNT; state++)
		text_addf(&list, "%s, ", thread_state_name((enum thread_state)state));
	return error_set(err, -ENOENT,
			 "no state \"%s\": there are %sand waiting, which is all but the first "
			 "two; commas separate several",
			 wanted, text_string(&list));
}

#define ALL_STATES  ((1U << THREAD_STATE_COUNT) - 1)
#define NOT_WAITING (1U << THREAD_STATE_RUNNING | 1U << THREAD_STATE_RUNNABLE)

/* "io,lock", "waiting" */
static int choose_states(struct filter *filter, const struct profile *profile,
			 const char *wanted, struct error *err)
{
	CLEANUP(freep) char *list = xstrdup(wanted);
	char *rest = list, *word;
	uint32_t kept = 0;

	if (!profile_get_info(profile)->is_wall)
		return error_set(
			err, -EINVAL,
			"this recording has no states: 'fathom record --clock wall' makes "
			"one that has");
	while ((word = strsep(&rest, ",")) != NULL) {
		enum thread_state state;

		if (strcmp(word, "waiting") == 0)
			kept |= ALL_STATES & ~NOT_WAITING;
		else if (thread_state_parse(word, &state))
			kept |= 1U << state;
		else
			return no_such_state(word, err);
	}
	if (filter->description.len > 0)
		text_add(&filter->description, ", ");
	text_addf(&filter->description, "state %s", wanted);
	filter->states = ALL_STATES & ~kept;
	return 0;
}

static void leave_out_idle(struct filter *filter, const struct profile *profile)
{
	const size_t threads = profile_thread_count(profile);
	CLEANUP(freep) struct stack_id *places = idle_places(profile);

	filter->is_idle = xzalloc((threads + 1) * sizeof *filter->is_idle);
	for (size_t i = 1; i <= threads; i++)
		filter->is_idle[i] = places[i].n != 0;
	filter->idle = idle_find(profile);
}

static void sum_up(struct filter *filter, const struct profile *profile)
{
	bool is_saturated = false;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (filter->is_idle && filter->is_idle[weight->thread.n])
			continue;
		sum_add(&filter->whole_ns, weight->ns, &is_saturated);
		if (filter_keeps(filter, weight))
			sum_add(&filter->kept_ns, weight->ns, &is_saturated);
	}
}

int filter_new(const struct profile *profile, const struct filter_options *options,
	       struct filter **out_filter, struct error *err)
{
	*out_filter = NULL;
	const bool has_idle = options->is_without_idle && idle_find(profile).threads > 0;

	if (!options->process && !options->thread && !options->module && !options->package &&
	    !options->state && !has_idle)
		return 0;

	CLEANUP(filter_freep) struct filter *filter = xzalloc(sizeof *filter);
	int rc = 0;
	if (options->process)
		rc = filter_choose_processes(profile, options->process, &filter->keeps_thread,
					     &filter->description, err);
	if (rc == 0 && options->thread)
		rc = filter_choose_threads(profile, options->thread, &filter->keeps_thread,
					   &filter->description, err);
	if (rc == 0 && options->module)
		rc = choose_stacks(filter, profile, filter_choose_functions, options->module,
				   err);
	if (rc == 0 && options->package)
		rc = choose_stacks(filter, profile, filter_choose_package, options->package,
				   err);
	if (rc == 0 && options->state)
		rc = choose_states(filter, profile, options->state, err);
	if (rc < 0)
		return rc;

	if (has_idle)
		leave_out_idle(filter, profile);
	sum_up(filter, profile);
	*out_filter = filter;
	filter = NULL; /* now the caller's */
	return 0;
}

static bool keeps(const void *context, const struct weight *weight)
{
	return filter_keeps(context, weight);
}

int filter_apply(struct profile *profile, const struct filter_options *options,
		 struct error *err)
{
	CLEANUP(filter_freep) struct filter *filter = NULL;
	int rc = filter_new(profile, options, &filter, err);

	if (rc < 0 || !filter)
		return rc;
	const double share = filter->whole_ns > 0 ? 100.0 * (double)filter->kept_ns /
							    (double)filter->whole_ns
						  : 0;
	CLEANUP(freep)
	char *part = xasprintf("only %s, %.1f %% of the time recorded",
			       filter_description(filter), share);

	profile_info(profile)->part = profile_copy_string(profile, part);
	profile_keep_weights(profile, keeps, filter);
	return 0;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	freep(&filter->keeps_thread);
	freep(&filter->keeps_stack);
	freep(&filter->is_idle);
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
	if (filter->states >> weight->state & 1)
		return false;
	if (filter->is_idle && filter->is_idle[weight->thread.n])
		return false;
	if (filter->keeps_thread && !filter->keeps_thread[weight->thread.n])
		return false;
	return !filter->keeps_stack || filter->keeps_stack[weight->stack.n];
}

const char *filter_description(const struct filter *filter)
{
	return text_string(&filter->description);
}

struct idle filter_idle(const struct filter *filter)
{
	return filter ? filter->idle : (struct idle){ 0 };
}

uint64_t filter_kept_ns(const struct filter *filter)
{
	return filter->kept_ns;
}

uint64_t filter_whole_ns(const struct filter *filter)
{
	return filter->whole_ns;
}
