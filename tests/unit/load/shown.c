#include "shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/text.h"
#include "by_hand.h"
#include "load/load.h"
#include "profile/profile.h"

struct profile *shown_load(const char *file, bool shows_plumbing)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct profile *profile = NULL;
	struct error err;

	if (load_recording(by_hand_path(file),
			   &(struct load_options){ .shows_plumbing = shows_plumbing }, notes,
			   &profile, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

const struct function *shown_function(const struct profile *profile, struct stack_id stack)
{
	const struct frame *frame =
		profile_get_frame(profile, profile_get_stack(profile, stack)->frame);

	return profile_get_function(profile, frame->function);
}

static void add_path(struct text *out, const struct profile *profile, struct stack_id stack)
{
	const struct stack *row = profile_get_stack(profile, stack);

	if (row->parent.n) {
		add_path(out, profile, row->parent);
		text_add(out, " ");
	}
	text_add(out, shown_function(profile, stack)->name);
	if (profile_get_frame(profile, row->frame)->line)
		text_addf(out, ":%u", profile_get_frame(profile, row->frame)->line);
}

void shown_must_be(const char *file, bool shows_plumbing, const char *expected)
{
	CLEANUP(profile_freep) struct profile *profile = shown_load(file, shows_plumbing);
	struct text text = { 0 };

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (weight->samples == 0)
			continue;
		text_addf(&text, "%u ", (unsigned int)weight->samples);
		add_path(&text, profile, weight->stack);
		text_add(&text, "\n");
	}
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
}

uint64_t shown_sum(const char *file, bool shows_plumbing)
{
	CLEANUP(profile_freep) struct profile *profile = shown_load(file, shows_plumbing);
	uint64_t ns = 0;

	for (size_t i = 0; i < profile_weight_count(profile); i++)
		ns += profile_get_weight(profile, i)->ns;
	return ns;
}
