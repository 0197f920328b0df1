#include "profile/packages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "profile/function_origin.h"
#include "profile/profile.h"
#include "profile/sum.h"

/* If own code has less than 1/OWN_PART of the time, it is not what was profiled. */
enum { OWN_PART = 100 };

struct packages {
	const struct profile *profile;
	struct intern names;
	struct package *list; /* from 1 */
	size_t count, capacity;
	struct table index; /* (origin, name) to the package */
	uint32_t *of;       /* by function id */
	bool *is_own, *is_import;
	enum own_rule own_rule;
};

static uint32_t package_at(struct packages *packages, struct origin_name found)
{
	const uint32_t name = intern_add(&packages->names, found.name, found.length);
	bool is_new;
	uint64_t *place = table_at(&packages->index, found.origin, name, &is_new);

	if (is_new) {
		packages->list = array_grow(packages->list, packages->count + 1,
					    &packages->capacity, sizeof *packages->list);
		packages->list[++packages->count] = (struct package){
			.name = intern_get(&packages->names, name, NULL),
			.origin = found.origin,
		};
		*place = packages->count;
	}
	return (uint32_t)*place;
}

static void classify(struct packages *packages)
{
	const size_t count = profile_function_count(packages->profile);

	packages->of = xzalloc((count + 1) * sizeof *packages->of);
	packages->is_own = xzalloc((count + 1) * sizeof *packages->is_own);
	packages->is_import = xzalloc((count + 1) * sizeof *packages->is_import);
	/* Package number 0 needs a name, too. */
	packages->list = array_grow(NULL, 0, &packages->capacity, sizeof *packages->list);
	packages->list[0] = (struct package){ .name = "[none]", .origin = ORIGIN_SYSTEM };
	for (uint32_t i = 1; i <= count; i++) {
		const struct function *function =
			profile_get_function(packages->profile, (struct function_id){ i });

		packages->of[i] =
			package_at(packages, function_origin(packages->profile, function));
		packages->is_import[i] = function_is_import(function);
	}
}

/*
 * A C function known only by its interpreter's name, as numpy's, joins the installed package of
 * that name if the profile has one.
 */
static void join_builtins(struct packages *packages)
{
	const size_t count = profile_function_count(packages->profile);

	for (uint32_t i = 1; i <= count; i++) {
		const struct package *package = &packages->list[packages->of[i]];
		const uint32_t name =
			intern_find(&packages->names, package->name, strlen(package->name));
		uint64_t same;

		if (package->origin == ORIGIN_STANDARD &&
		    table_get(&packages->index, ORIGIN_PACKAGE, name, &same))
			packages->of[i] = (uint32_t)same;
	}
}

/* Compiled from a string, as by exec(). */
static bool is_of_string(const struct function *function)
{
	return function->language == LANGUAGE_PYTHON && function->file &&
	       strcmp(function->file, "<string>") == 0;
}

/* The function of the nearest caller that has a file of its own; none: there is none. */
static struct function_id caller_with_file(const struct profile *profile,
					   const struct stack *stack)
{
	struct stack_id at = stack->parent;

	while (at.n) {
		const struct stack *outer = profile_get_stack(profile, at);
		const struct function_id id =
			profile_get_frame(profile, outer->frame)->function;
		const struct function *function = profile_get_function(profile, id);

		if (function->file && language_is_interpreted(function->language) &&
		    !is_of_string(function))
			return id;
		at = outer->parent;
	}
	return (struct function_id){ 0 };
}

/*
 * Code from a string that only packages or the standard library execute belongs to them: the
 * lines of .pth files, which site executes at Python's start.
 */
static void place_code_of_strings(struct packages *packages)
{
	const struct profile *profile = packages->profile;
	const size_t count = profile_function_count(profile);
	CLEANUP(freep) bool *is_own = xzalloc((count + 1) * sizeof *is_own);

	for (uint32_t i = 1; i <= profile_stack_count(profile); i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });
		const uint32_t n = profile_get_frame(profile, stack->frame)->function.n;
		const struct function *function =
			profile_get_function(profile, (struct function_id){ n });

		if (!function || !is_of_string(function) || is_own[n])
			continue;
		const struct function_id caller = caller_with_file(profile, stack);

		is_own[n] = packages->list[packages->of[caller.n]].origin == ORIGIN_OWN ||
			    !caller.n;
		packages->of[n] =
			is_own[n] ? package_at(packages, function_origin(profile, function))
				  : packages->of[caller.n];
	}
}

static bool is_asked(const struct profile *profile, const struct function *function,
		     const char *patterns)
{
	const struct module *module = profile_get_module(profile, function->module);

	for (const char *at = patterns; *at;) {
		const size_t len = strcspn(at, ",");

		if (len > 0 &&
		    ((function->file &&
		      memmem(function->file, strlen(function->file), at, len)) ||
		     (module && memmem(module->path, strlen(module->path), at, len))))
			return true;
		at += len;
		at += *at == ',';
	}
	return false;
}

static bool is_program(const struct profile *profile, const struct function *function)
{
	const struct module *module = profile_get_module(profile, function->module);
	const char *name = module ? strrchr(module->path, '/') : NULL;

	return name && function->language == LANGUAGE_NATIVE && !strstr(name, ".so") &&
	       !function_is_of_toolchain(function->name);
}

static bool is_own_by(const struct packages *packages, uint32_t i, enum own_rule rule,
		      const char *patterns)
{
	const struct function *function =
		profile_get_function(packages->profile, (struct function_id){ i });
	const enum origin origin = packages->list[packages->of[i]].origin;

	if (function->language == LANGUAGE_REGION)
		return true;
	switch (rule) {
	case OWN_BY_PATH:
		return origin == ORIGIN_OWN;
	case OWN_ASKED:
		return is_asked(packages->profile, function, patterns);
	case OWN_INTERPRETED:
		return language_is_interpreted(function->language) && function->file &&
		       !function_is_import(function) &&
		       (origin == ORIGIN_OWN || origin == ORIGIN_PACKAGE ||
			origin == ORIGIN_SYSTEM);
	case OWN_STANDARD:
		return language_is_interpreted(function->language) && function->file &&
		       !function_is_import(function) && origin == ORIGIN_STANDARD;
	case OWN_PROGRAMS:
		return origin == ORIGIN_OWN ||
		       ((origin == ORIGIN_SYSTEM || origin == ORIGIN_PACKAGE) &&
			is_program(packages->profile, function));
	default:
		return origin != ORIGIN_FATHOM;
	}
}

/* Whether enough of the time has own code on its stack. */
static bool has_time(const struct packages *packages)
{
	const struct profile *profile = packages->profile;
	const size_t stacks = profile_stack_count(profile);
	CLEANUP(freep) bool *has_own = xzalloc((stacks + 1) * sizeof *has_own);
	uint64_t own_ns = 0, all_ns = 0;
	bool is_saturated = false;

	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack = profile_get_stack(profile, (struct stack_id){ i });
		const struct frame *frame = profile_get_frame(profile, stack->frame);

		has_own[i] = has_own[stack->parent.n] || packages->is_own[frame->function.n];
	}
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		sum_add(&all_ns, weight->ns, &is_saturated);
		if (has_own[weight->stack.n])
			sum_add(&own_ns, weight->ns, &is_saturated);
	}
	return own_ns > 0 && own_ns >= all_ns / OWN_PART;
}

static bool choose(struct packages *packages, enum own_rule rule, const char *patterns)
{
	const size_t count = profile_function_count(packages->profile);

	for (uint32_t i = 1; i <= count; i++)
		packages->is_own[i] = is_own_by(packages, i, rule, patterns);
	packages->own_rule = rule;
	return has_time(packages);
}

static void choose_own(struct packages *packages, const struct packages_options *options)
{
	static const enum own_rule rules[] = { OWN_BY_PATH, OWN_INTERPRETED, OWN_PROGRAMS,
					       OWN_STANDARD };

	if (options->is_all_own) {
		choose(packages, OWN_ALL, NULL);
		return;
	}
	if (options->own) {
		choose(packages, OWN_ASKED, options->own);
		return;
	}
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (choose(packages, rules[i], NULL))
			return;
	}
	choose(packages, OWN_ALL, NULL);
}

struct packages *packages_new(const struct profile *profile,
			      const struct packages_options *options)
{
	struct packages *packages = xzalloc(sizeof *packages);

	packages->profile = profile;
	classify(packages);
	join_builtins(packages);
	place_code_of_strings(packages);
	choose_own(packages, options);
	return packages;
}

void packages_free(struct packages *packages)
{
	if (!packages)
		return;
	intern_done(&packages->names);
	table_done(&packages->index);
	freep(&packages->list);
	freep(&packages->of);
	freep(&packages->is_own);
	freep(&packages->is_import);
	freep(&packages);
}

void packages_freep(struct packages **packages)
{
	packages_free(*packages);
	*packages = NULL;
}

enum own_rule packages_own_rule(const struct packages *packages)
{
	return packages->own_rule;
}

bool packages_is_own(const struct packages *packages, struct function_id function)
{
	return packages->is_own[function.n];
}

bool packages_is_import(const struct packages *packages, struct function_id function)
{
	return packages->is_import[function.n];
}

uint32_t packages_of(const struct packages *packages, struct function_id function)
{
	return packages->of[function.n];
}

size_t packages_count(const struct packages *packages)
{
	return packages->count;
}

const struct package *packages_get(const struct packages *packages, uint32_t package)
{
	return &packages->list[package <= packages->count ? package : 0];
}
