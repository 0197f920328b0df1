#include "profile/child_waits.h"

#include <string.h>

#include "base/memory.h"
#include "profile/profile.h"
#include "profile/states.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* "read(a pipe)", "pselect6(a pipe)", "poll(2 pipes)", "poll(a process)": nothing else. */
static bool is_of_pipes(const char *call)
{
	static const char *const waits[] = { "read(", "poll(", "ppoll(", "select(",
					     "pselect6(" };
	const char *object = strchr(call, '(');
	bool is_wait = false;

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		is_wait |= begins(call, waits[i]);
	if (!is_wait)
		return false;
	object += 1 + strspn(object + 1, "0123456789");
	return strcmp(object, "a pipe)") == 0 || strcmp(object, " pipes)") == 0 ||
	       strcmp(object, "a process)") == 0;
}

static bool is_for_child(const struct profile *profile, const struct weight *weight)
{
	const struct stack *stack = profile_get_stack(profile, weight->stack);
	const struct frame *frame = stack ? profile_get_frame(profile, stack->frame) : NULL;
	const struct function *leaf =
		frame ? profile_get_function(profile, frame->function) : NULL;

	if (!leaf || leaf->language != LANGUAGE_KERNEL)
		return false;
	return weight->state == THREAD_STATE_WAIT ? !begins(leaf->name, "futex(")
						  : is_of_pipes(leaf->name);
}

/* By process id: whether it has child processes. */
static bool *find_parents(const struct profile *profile)
{
	const size_t count = profile_process_count(profile);
	bool *is_parent = xzalloc((count + 1) * sizeof *is_parent);

	for (uint32_t i = 1; i <= count; i++)
		is_parent[profile_get_process(profile, (struct process_id){ i })->parent.n] =
			true;
	return is_parent;
}

bool *child_waits_find(const struct profile *profile)
{
	const size_t count = profile_weight_count(profile);
	CLEANUP(freep) bool *is_parent = NULL;
	CLEANUP(freep) bool *found = NULL;
	bool has_any = false;

	if (!profile_is_wall(profile) || profile_process_count(profile) < 2)
		return NULL;
	is_parent = find_parents(profile);
	found = xzalloc(count * sizeof *found);
	for (size_t i = 0; i < count; i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct thread *thread = profile_get_thread(profile, weight->thread);

		found[i] = thread && thread->process.n && is_parent[thread->process.n] &&
			   weight->state > THREAD_STATE_RUNNABLE &&
			   is_for_child(profile, weight);
		has_any |= found[i];
	}
	if (!has_any)
		return NULL;
	bool *result = found;

	found = NULL;
	return result;
}
