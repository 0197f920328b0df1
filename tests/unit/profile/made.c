#include "made.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

void made_init(struct made *made)
{
	*made = (struct made){ .profile = profile_new() };
	made_begin_process(made, 100, "prog");
	made_begin_thread(made, 100, "prog");
}

void made_done(struct made *made)
{
	profile_freep(&made->profile);
}

void made_begin_process(struct made *made, int pid, const char *name)
{
	made->process = profile_add_process(
		made->profile,
		&(struct process){ .pid = pid, .name = name, .parent = made->process });
}

void made_begin_thread(struct made *made, int tid, const char *name)
{
	made->thread = profile_add_thread(
		made->profile,
		&(struct thread){ .process = made->process, .tid = tid, .name = name });
}

static struct frame_id frame_of(struct profile *profile, char *text)
{
	struct frame frame = { 0 };
	struct function function = { .language = LANGUAGE_NATIVE };

	if (*text == '~') {
		frame.is_inlined = true;
		text++;
	}
	if (*text == '%' || *text == '^') {
		function.language = *text == '%' ? LANGUAGE_PYTHON : LANGUAGE_RUBY;
		text++;
	}
	if (*text == '&') {
		function.language = LANGUAGE_KERNEL;
		text++;
	}
	char *plus = strrchr(text, '+');
	if (plus) {
		*plus = '\0';
		frame.line = (uint32_t)strtoul(plus + 1, NULL, 10);
	}
	char *at = strrchr(text, '@');
	if (at) {
		*at = '\0';
		char *colon = strrchr(at + 1, ':');
		*colon = '\0';
		function.file = at[1] ? at + 1 : NULL;
		function.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	}
	char *bang = strchr(text, '!');
	if (bang) {
		*bang = '\0';
		function.module = profile_add_module(profile, &(struct module){ .path = text });
		text = bang + 1;
	}
	function.name = text;
	if (*text == '[' && !bang && function.language == LANGUAGE_NATIVE)
		function.language =
			strncmp(text, "[region ", 8) == 0 ? LANGUAGE_REGION : LANGUAGE_FATHOM;
	frame.function = profile_add_function(profile, &function);
	return profile_add_frame(profile, &frame);
}

struct stack_id made_stack(struct made *made, const char *stack)
{
	CLEANUP(freep) char *copy = xstrdup(stack);
	struct stack_id id = { 0 };
	char *rest = copy;

	for (char *text; (text = strsep(&rest, ";"));)
		id = profile_add_stack(made->profile, id, frame_of(made->profile, text));
	return id;
}

void made_add(struct made *made, const char *stack, uint64_t ns, uint64_t samples)
{
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .ns = ns,
							    .samples = samples });
}

void made_add_calls(struct made *made, const char *stack, uint64_t ns, uint64_t calls)
{
	profile_info(made->profile)->mode = "trace";
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .ns = ns,
							    .calls = calls });
}

struct function_id made_function(const struct made *made, const char *name)
{
	for (uint32_t i = 1; i <= profile_function_count(made->profile); i++) {
		const struct function *function =
			profile_get_function(made->profile, (struct function_id){ i });
		if (strcmp(function->name, name) == 0)
			return (struct function_id){ i };
	}
	fail_msg("no function %s was added", name);
	return (struct function_id){ 0 };
}
