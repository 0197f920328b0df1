#include "export/meaning.h"

#include "base/text.h"
#include "profile/label.h"
#include "profile/profile.h"

const struct function *meaning_of_function(const struct profile *profile, uint32_t n)
{
	static const struct function unknown = { .language = LANGUAGE_NATIVE };

	if (n == 0 || n > profile_function_count(profile))
		return &unknown;
	return profile_get_function(profile, (struct function_id){ n });
}

const char *meaning_of_name(const struct function *function)
{
	return function->name && *function->name ? function->name : "[unknown]";
}

const char *meaning_of_module(const struct profile *profile, const struct function *function)
{
	if (function->module.n == 0)
		return NULL;
	return profile_get_module(profile, function->module)->path;
}

void meaning_add_thread(struct text *text, const struct profile *profile, uint32_t n)
{
	if (n == 0) {
		text_add(text, "no thread");
		return;
	}
	const struct thread *thread = profile_get_thread(profile, (struct thread_id){ n });
	if (thread->process.n != 0) {
		const struct process *process = profile_get_process(profile, thread->process);
		label_add_process(text, process);
		text_addf(text, " (%d) / ", process->pid);
	}
	text_addf(text, "%s (%d)", thread->name ? thread->name : "thread", thread->tid);
}

const char *meaning_of_counts(const struct profile *profile)
{
	return profile_is_trace(profile) ? "calls" : "samples";
}

uint64_t meaning_of_count(const struct profile *profile, const struct weight *weight)
{
	return profile_is_trace(profile) ? weight->calls : weight->samples;
}

bool meaning_has_states(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	return info->is_wall && !info->has_no_states;
}

void meaning_add_state(struct text *text, uint32_t state)
{
	text_addf(text, "[%s]", thread_state_name((enum thread_state)state));
}
