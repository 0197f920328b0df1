#include "load/fold.h"

#include <string.h>

#include "load/names.h"
#include "load/plumbing.h"
#include "profile/function_origin.h"

enum fold_module {
	FOLD_MODULE_INTERPRETER = 1,
	FOLD_MODULE_STANDARD,  /* of its standard library */
	FOLD_MODULE_EMBEDDING, /* a program with an interpreter linked into it */
	FOLD_MODULE_LIBC,
	FOLD_MODULE_MADE, /* code made at run time */
};

void folding_done(struct folding *folding)
{
	table_done(&folding->modules);
}

static void set(struct folding *folding, uint32_t module, enum fold_module what,
		enum language language)
{
	*table_at(&folding->modules, 0, module, NULL) = (uint64_t)language << 32 | what;
}

void folding_add_interpreter(struct folding *folding, uint32_t module, enum language language,
			     const char *path)
{
	const bool is_its_own = path && plumbing_is_named_after(language, path);

	set(folding, module, is_its_own ? FOLD_MODULE_INTERPRETER : FOLD_MODULE_EMBEDDING,
	    language);
}

void folding_add_file(struct folding *folding, uint32_t module, const char *path)
{
	static const enum fold_module modules[] = {
		[PLUMBING_INTERPRETER] = FOLD_MODULE_INTERPRETER,
		[PLUMBING_STANDARD] = FOLD_MODULE_STANDARD,
		[PLUMBING_LIBC] = FOLD_MODULE_LIBC,
	};
	uint64_t known = 0;

	if (!path || table_get(&folding->modules, 0, module, &known))
		return;
	const struct plumbing_file file = plumbing_of_file(path);

	if (file.kind != PLUMBING_NONE)
		set(folding, module, modules[file.kind], file.language);
}

void folding_add_made(struct folding *folding, uint32_t module)
{
	set(folding, module, FOLD_MODULE_MADE, LANGUAGE_NATIVE);
}

bool folding_is_on(const struct folding *folding)
{
	return !folding->is_off && folding->modules.count > 0;
}

static struct fold_role role_in_module(enum fold_module what, enum language language,
				       const char *name)
{
	struct fold_role role = { FOLD_PLUMBING, language, FOLD_NO_PART };

	/* libruby calls it all the time, to find its execution context. */
	if (what == FOLD_MODULE_LIBC)
		role.kind = strcmp(name, "__tls_get_addr") == 0 ? FOLD_HELPER : FOLD_LIBC;
	if (what == FOLD_MODULE_STANDARD)
		role.kind = FOLD_STANDARD;
	if (what == FOLD_MODULE_EMBEDDING && !plumbing_is_own_name(language, name))
		role.kind = FOLD_OTHER;
	/* CPython's Python/perf_trampoline.c names its trampolines py::NAME:FILE. */
	if (what == FOLD_MODULE_MADE && strncmp(name, "py::", 4) == 0)
		role.language = LANGUAGE_PYTHON;
	else if (what == FOLD_MODULE_MADE)
		role.kind = FOLD_MADE;
	return role;
}

static enum fold_part part_of(const struct function *function)
{
	if (function->language != LANGUAGE_PYTHON)
		return FOLD_NO_PART;
	if (strcmp(function->name, "builtins.exec") == 0)
		return FOLD_EXEC;
	if (function_is_import(function))
		return FOLD_IMPORT;
	return function->file && strcmp(function->name, "<module>") == 0 ? FOLD_BODY
									 : FOLD_NO_PART;
}

struct fold_role folding_role(const struct folding *folding,
			      const struct named_function *function)
{
	const struct function as_shown = { .language = (enum language)function->language,
					   .name = function->name,
					   .file = function->file,
					   .line = function->line };
	uint64_t what = 0;

	if (language_is_interpreted(as_shown.language))
		return (struct fold_role){
			function_is_builtin(&as_shown) ? FOLD_BUILTIN : FOLD_INTERPRETED,
			as_shown.language,
			folding->keeps_imports ? FOLD_NO_PART : part_of(&as_shown),
		};
	if (function->language == LANGUAGE_REGION)
		return (struct fold_role){ FOLD_REGION, LANGUAGE_NATIVE, FOLD_NO_PART };
	if (function->language != LANGUAGE_NATIVE ||
	    !table_get(&folding->modules, 0, function->module, &what))
		return (struct fold_role){ FOLD_OTHER, LANGUAGE_NATIVE, FOLD_NO_PART };
	return role_in_module((enum fold_module)(uint32_t)what, (enum language)(what >> 32),
			      function->name);
}

static uint8_t language_bit(enum language language)
{
	return language == LANGUAGE_PYTHON ? 1 : language == LANGUAGE_RUBY ? 2 : 0;
}

/* An interpreted frame or a builtin is always shown, and is the base for frames further in. */
static struct folded interpreted(const struct folded *parent, struct fold_role role,
				 struct stack_id stack)
{
	const uint8_t bit = language_bit(role.language);

	return (struct folded){
		.shown = stack,
		.base = stack,
		.outside = role.kind == FOLD_BUILTIN ? FOLD_CALLED : FOLD_EXECUTED,
		.languages = parent->languages | bit,
	};
}

/* The same for a frame of the import system, or of what it calls. */
static struct folded in_import(const struct folded *parent, struct fold_role role,
			       struct stack_id (*push)(void *context, struct stack_id parent),
			       void *context)
{
	if (!parent->is_importing && role.part == FOLD_IMPORT) {
		struct folded row = interpreted(parent, role, push(context, parent->base));

		row.base = parent->base;
		row.is_importing = true;
		return row;
	}
	if (role.part == FOLD_IMPORT || role.part == FOLD_EXEC)
		return *parent;
	return interpreted(
		parent, role,
		push(context, role.part == FOLD_BODY ? parent->base : parent->shown));
}

/* Whether a frame adds no information to those outside of it. */
static bool says_nothing(const struct folded *parent, struct fold_role role)
{
	const bool is_inside = (parent->languages & language_bit(role.language)) != 0;

	switch (role.kind) {
	case FOLD_PLUMBING:
		return is_inside;
	case FOLD_STANDARD:
		return is_inside && parent->outside == FOLD_CALLED;
	case FOLD_MADE:
		/*
		 * By YJIT: nothing else comes between a method and generated code, nor between
		 * that and a C function that it calls.  The C function's name is outside of the
		 * code if nothing more is known of the stack.
		 */
		return (parent->outside == FOLD_EXECUTED || parent->outside == FOLD_CALLED) &&
		       (parent->languages & language_bit(LANGUAGE_RUBY)) != 0;
	case FOLD_HELPER:
		return parent->outside == FOLD_EXECUTED || parent->outside == FOLD_CALLED;
	default:
		return false;
	}
}

struct folded fold(const struct folded *parent, struct fold_role role,
		   struct stack_id (*push)(void *context, struct stack_id parent),
		   void *context)
{
	const bool is_interpreted = role.kind == FOLD_INTERPRETED || role.kind == FOLD_BUILTIN;

	if (is_interpreted && (parent->is_importing || role.part == FOLD_IMPORT))
		return in_import(parent, role, push, context);
	if (is_interpreted)
		return interpreted(parent, role, push(context, parent->base));
	if (says_nothing(parent, role))
		return *parent;
	const bool is_libc = role.kind == FOLD_LIBC && parent->base.n == 0;
	struct folded row = { .shown = push(context, parent->shown),
			      .outside = is_libc || role.kind == FOLD_REGION ? parent->outside
									     : FOLD_ANYTHING,
			      .languages = parent->languages };

	if (parent->is_importing)
		row.base = row.shown; /* a library that is loaded */
	else if (role.kind == FOLD_PLUMBING || is_libc)
		row.base = parent->base; /* it only starts what follows */
	else if (parent->outside == FOLD_BARE || parent->base.n == parent->shown.n)
		row.base = row.shown; /* what started a program, or its thread, belongs to it */
	else
		row.base = push(context, parent->base);
	return row;
}
