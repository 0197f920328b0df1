#include "load/fold.h"

#include <string.h>

#include "load/names.h"

enum fold_module {
	FOLD_MODULE_INTERPRETER = 1,
	FOLD_MODULE_STANDARD,  /* of its standard library */
	FOLD_MODULE_EMBEDDING, /* a program with an interpreter linked into it */
	FOLD_MODULE_LIBC,
	FOLD_MODULE_MADE, /* code made at run time */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *string, const char *with)
{
	return strncmp(string, with, strlen(with)) == 0;
}

/* Behind "python" or "libpython", or NULL for a file of another name. */
static const char *behind_python(const char *path)
{
	const char *name = base_name(path);

	name += begins(name, "lib") ? strlen("lib") : 0;
	return begins(name, "python") ? name + strlen("python") : NULL;
}

/* "python3", "python3.12", "python3.13t", "libpython3.so.1": no extension module's name. */
static bool is_python(const char *path)
{
	const char *rest = behind_python(path);

	if (!rest)
		return false;
	rest += strspn(rest, "0123456789.");
	/* sys.abiflags */
	rest += strspn(rest, "dmut");
	return !*rest || begins(rest, "so") || begins(rest, ".so") || begins(rest, "-dbg");
}

/* CPython's own build puts its extension modules there, and nobody else's are (setup.py). */
static bool is_standard(const char *path)
{
	return strstr(path, "/lib-dynload/") != NULL;
}

static bool is_libc(const char *path)
{
	static const char *const names[] = { "libc.so",  "libc-", "libpthread",
					     "ld-linux", "ld-2",  "ld.so" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (begins(base_name(path), names[i]))
			return true;
	return false;
}

void folding_done(struct folding *folding)
{
	table_done(&folding->modules);
}

static void set(struct folding *folding, uint32_t module, enum fold_module what)
{
	*table_at(&folding->modules, 0, module, NULL) = what;
}

void folding_add_interpreter(struct folding *folding, uint32_t module, const char *path)
{
	set(folding, module,
	    path && behind_python(path) ? FOLD_MODULE_INTERPRETER : FOLD_MODULE_EMBEDDING);
}

void folding_add_file(struct folding *folding, uint32_t module, const char *path)
{
	uint64_t known = 0;

	if (!path || table_get(&folding->modules, 0, module, &known))
		return;
	if (is_python(path))
		set(folding, module, FOLD_MODULE_INTERPRETER);
	else if (is_standard(path))
		set(folding, module, FOLD_MODULE_STANDARD);
	else if (is_libc(path))
		set(folding, module, FOLD_MODULE_LIBC);
}

void folding_add_made(struct folding *folding, uint32_t module)
{
	set(folding, module, FOLD_MODULE_MADE);
}

bool folding_is_on(const struct folding *folding)
{
	return !folding->is_off && folding->modules.count > 0;
}

/* By the prefixes that CPython keeps for itself (PEP 7): Py_, PyList_, _Py, but not Pyramid. */
static bool is_pythons_name(const char *name)
{
	return begins(name, "_Py") ||
	       (begins(name, "Py") && (name[2] == '_' || (name[2] >= 'A' && name[2] <= 'Z')));
}

enum fold_kind folding_kind(const struct folding *folding,
			    const struct named_function *function)
{
	const struct function as_shown = { .language = (enum language)function->language,
					   .name = function->name,
					   .file = function->file,
					   .line = function->line };
	uint64_t what = 0;

	if (function->language == LANGUAGE_PYTHON || function->language == LANGUAGE_RUBY)
		return function_is_builtin(&as_shown) ? FOLD_BUILTIN : FOLD_INTERPRETED;
	if (function->language != LANGUAGE_NATIVE ||
	    !table_get(&folding->modules, 0, function->module, &what))
		return FOLD_OTHER;
	if (what == FOLD_MODULE_LIBC)
		return FOLD_LIBC;
	if (what == FOLD_MODULE_STANDARD)
		return FOLD_STANDARD;
	if (what == FOLD_MODULE_EMBEDDING && !is_pythons_name(function->name))
		return FOLD_OTHER;
	/* CPython's Python/perf_trampoline.c calls them py::NAME:FILE. */
	if (what == FOLD_MODULE_MADE && !begins(function->name, "py::"))
		return FOLD_OTHER;
	return FOLD_PLUMBING;
}

static struct folded inside(enum fold_state state, struct stack_id stack)
{
	return (struct folded){ stack, stack, state };
}

/* Whether a frame that stands inside of an interpreted one says nothing that this does not. */
static bool is_folded_inside(enum fold_state state, enum fold_kind kind)
{
	return kind == FOLD_PLUMBING || (kind == FOLD_STANDARD && state == FOLD_INSIDE_BUILTIN);
}

/* No interpreted frame stands further out; the row's own is none either. */
static struct folded
fold_outside(const struct folded *parent, enum fold_kind kind,
	     struct stack_id (*push)(void *context, struct stack_id parent), void *context)
{
	bool is_start = kind == FOLD_PLUMBING || (kind == FOLD_LIBC && parent->base.n == 0);
	struct folded row = { .shown = push(context, parent->shown), .state = FOLD_OUTSIDE };

	if (is_start) {
		row.base = parent->base;
		if (kind == FOLD_LIBC)
			row.state = parent->state;
	} else if (parent->state == FOLD_BARE || parent->base.n == parent->shown.n) {
		/* A program's own: what started it, or its thread, is its, too. */
		row.base = row.shown;
	} else {
		row.base = push(context, parent->base);
	}
	return row;
}

struct folded fold(const struct folded *parent, enum fold_kind kind,
		   struct stack_id (*push)(void *context, struct stack_id parent),
		   void *context)
{
	if (kind == FOLD_INTERPRETED)
		return inside(FOLD_INSIDE, push(context, parent->base));
	if (kind == FOLD_BUILTIN)
		return inside(FOLD_INSIDE_BUILTIN, push(context, parent->base));
	if (parent->state < FOLD_INSIDE)
		return fold_outside(parent, kind, push, context);
	if (is_folded_inside(parent->state, kind))
		return *parent;
	return inside(FOLD_INSIDE, push(context, parent->base));
}
