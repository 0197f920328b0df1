#include "load/wait_names.h"

#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/function_origin.h"
#include "profile/profile.h"
#include "symbol/demangle.h"

/* The most frames of the C and C++ libraries between the system call and the program. */
#define LAYERS_MOST 24U

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What the C library's functions wait for, by a part of their names. */
static const char *kind_of(const char *function)
{
	static const struct {
		const char *part, *kind;
	} kinds[] = {
		{ "pthread_cond_", "condition" }, { "pthread_mutex_", "mutex" },
		{ "lll_lock_wait", "mutex" },     { "pthread_rwlock_", "rwlock" },
		{ "sem_wait", "semaphore" },      { "sem_timedwait", "semaphore" },
		{ "sem_clockwait", "semaphore" }, { "pthread_barrier_", "barrier" },
		{ "pthread_once", "once" },       { "_atomic_wait", "atomic" },
		{ "__platform_wait", "atomic" },  { "_M_futex_wait", "future" },
		{ "aio_suspend", "aio" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strstr(function, kinds[i].part))
			return kinds[i].kind;
	}
	return NULL;
}

/*
 * Of Rust's libraries the outermost function says what is waited for: a barrier waits in a condition,
 * a channel in what parks a thread.
 */
static const char *kind_of_rust(const char *function)
{
	static const struct {
		const char *part, *kind;
	} kinds[] = {
		{ "Barrier>::wait", "barrier" }, { "sync::mpsc::", "channel" },
		{ "sync::mpmc::", "channel" },   { "::mutex::", "mutex" },
		{ "::raw_mutex::", "mutex" },    { "::rwlock::", "rwlock" },
		{ "::raw_rwlock::", "rwlock" },  { "::condvar::", "condition" },
		{ "sync::once::", "once" },      { "::thread_parking::", "park" },
		{ "std::thread::park", "park" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strstr(function, kinds[i].part))
			return kinds[i].kind;
	}
	return NULL;
}

/* GCC's library for OpenMP has names for what compiled code calls only. */
static const char *kind_of_openmp(const char *function)
{
	if (strstr(function, "critical") || strstr(function, "omp_set"))
		return "OpenMP lock";
	return "OpenMP barrier";
}

/* GLib's mutexes wait in functions without a name. */
static const char *kind_of_glib(const char *function)
{
	if (strstr(function, "queue"))
		return "queue";
	if (strstr(function, "cond"))
		return "condition";
	return strstr(function, "once") ? "once" : "mutex";
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static bool is_in(const struct profile *profile, const struct function *function,
		  const char *library)
{
	const struct module *module = profile_get_module(profile, function->module);

	return module && module->path && begins(base_name(module->path), library);
}

static bool is_layer(const struct profile *profile, const struct function *function)
{
	static const char *const libraries[] = { "libc.",     "libc-",  "libpthread",
						 "libstdc++", "libc++", "ld-" };
	const struct module *module = profile_get_module(profile, function->module);
	const char *library = module ? base_name(module->path) : NULL;
	struct origin_name origin;

	for (size_t i = 0; library && i < sizeof libraries / sizeof *libraries; i++) {
		if (begins(library, libraries[i]))
			return true;
	}
	return function_is_of_toolchain(function->name) ||
	       is_in(profile, function, "libgomp") || is_in(profile, function, "libglib") ||
	       function_is_of_parking_lot(function->name) ||
	       (function->file && origin_of_compiled_source(function->file, &origin));
}

static const char *kind_of_library(const struct profile *profile,
				   const struct function *function)
{
	if (is_in(profile, function, "libgomp"))
		return kind_of_openmp(function->name);
	return is_in(profile, function, "libglib") ? kind_of_glib(function->name)
						   : kind_of_rust(function->name);
}

/*
 * The nearest caller in the program; *out_kind: what the library functions before it wait for.
 */
static const struct frame *find_place(const struct profile *profile, struct stack_id id,
				      const char **out_kind)
{
	const struct stack *stack = profile_get_stack(profile, id);

	for (unsigned int i = 0; stack && i < LAYERS_MOST; i++) {
		const struct frame *frame = profile_get_frame(profile, stack->frame);
		const struct function *function =
			profile_get_function(profile, frame->function);

		if (function->language != LANGUAGE_NATIVE)
			return NULL;
		if (!is_layer(profile, function))
			return frame;
		const char *outer = kind_of_library(profile, function);

		if (outer || !*out_kind)
			*out_kind = outer ? outer : kind_of(function->name);
		stack = profile_get_stack(profile, stack->parent);
	}
	return NULL;
}

/*
 * The function of the C library, as the program calls it, that waits for a lock of its own: "malloc",
 * "printf", "fork"; NULL: none does.
 */
static const char *find_owner(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);
	const char *found = NULL;
	bool is_own = false;

	for (unsigned int i = 0; stack && i < LAYERS_MOST; i++) {
		const struct function *function = profile_get_function(
			profile, profile_get_frame(profile, stack->frame)->function);
		const bool is_c =
			is_in(profile, function, "libc.") || is_in(profile, function, "libc-");

		if (strstr(function->name, "pthread_"))
			return NULL;
		if (!is_layer(profile, function))
			break;
		if (is_c && is_own)
			found = function->name;
		is_own |= begins(function->name, "__lll_lock_wait");
		stack = profile_get_stack(profile, stack->parent);
	}
	/* "__libc_malloc", "__fork" */
	if (found)
		found += strspn(found, "_");
	return found && begins(found, "libc_") ? found + strlen("libc_") : found;
}

static void add_place(const struct profile *profile, const struct frame *frame,
		      struct text *out)
{
	const struct function *function = profile_get_function(profile, frame->function);
	const char *file = base_name(frame->file ? frame->file : function->file);

	if (file && frame->line > 0)
		text_addf(out, " at %s:%u", file, frame->line);
	else
		text_addf(out, " in %.*s", (int)strcspn(function->name, "("), function->name);
}

/* Demangles the variable in "futex(mutex _ZN5stats4lockE)". */
static bool add_demangled(const char *name, struct text *out)
{
	const char *mangled = strstr(name, "_Z");
	const size_t len = strlen(name);
	struct intern strings = { 0 };
	CLEANUP(text_done) struct text symbol = { 0 };

	if (!mangled || len < 2 || name[len - 1] != ')')
		return false;
	text_add_bytes(&symbol, mangled, strcspn(mangled, "+)"));
	text_add_bytes(out, name, (size_t)(mangled - name));
	text_add(out, demangle(&strings, text_string(&symbol)));
	text_add(out, mangled + symbol.len);
	intern_done(&strings);
	return true;
}

/* "futex(ready)": the functions that called it show what kind of thing the variable is. */
static bool add_kind(const struct profile *profile, struct stack_id callers, const char *name,
		     struct text *out)
{
	const char *inner = strchr(name, '(');
	const char *kind = NULL;

	if (!inner || strpbrk(inner + 1, " .<") || strcmp(inner, "(GIL)") == 0 ||
	    strcmp(inner, "(GVL)") == 0 || strcmp(inner, "(sleep)") == 0)
		return false;
	find_place(profile, callers, &kind);
	if (!kind)
		return false;
	text_addf(out, "futex(%s %s", kind, inner + 1);
	return true;
}

/* Whether the program itself called futex(2), and not Go's runtime in it: a lock of its own. */
static bool is_own_futex(const struct profile *profile, struct stack_id callers,
			 const struct frame *place)
{
	const struct stack *stack = profile_get_stack(profile, callers);

	return stack && profile_get_frame(profile, stack->frame) == place &&
	       !begins(profile_get_function(profile, place->function)->name, "runtime.");
}

bool wait_names_add(const struct profile *profile, struct stack_id callers, const char *name,
		    struct text *out)
{
	const char *kind = begins(name, "futex(mutex 0x")    ? "mutex"
			   : begins(name, "futex(rwlock 0x") ? "rwlock"
							     : NULL;
	const struct frame *place;
	const char *owner;

	if (!begins(name, "futex"))
		return false;
	if (!kind && strcmp(name, "futex") != 0)
		return add_demangled(name, out) || add_kind(profile, callers, name, out);
	place = find_place(profile, callers, &kind);
	if (place && !kind && is_own_futex(profile, callers, place))
		kind = "word";
	if (kind && !place && begins(kind, "OpenMP")) {
		text_add(out, "futex(OpenMP's next parallel region)");
		return true;
	}
	if (!kind || !place)
		return false;
	owner = find_owner(profile, callers);
	if (owner)
		text_addf(out, "futex(lock of %s", owner);
	else
		text_addf(out, "futex(%s", kind);
	add_place(profile, place, out);
	text_add(out, ")");
	return true;
}
