#include "profile/function_origin.h"

#include <stdbool.h>
#include <string.h>

#include "profile/profile.h"

static struct origin_name origin_named(enum origin origin, const char *name)
{
	return (struct origin_name){ .origin = origin, .name = name, .length = strlen(name) };
}

/*
 * C++ names like "std::sort<…>(…)" and "void std::__introsort_loop<…>(…)"; Rust names like
 * "core::fmt::write".
 */
static bool is_of_standard_scope(const char *name)
{
	static const char *const scopes[] = { "std::", "__gnu_cxx::", "core::", "alloc::" };
	const size_t head = strcspn(name, "<(");

	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
		const size_t len = strlen(scopes[i]);
		const char *at = memmem(name, head, scopes[i], len);

		if (at && (at == name || at[-1] == ' '))
			return true;
		/* <core::option::Option<T> as …>::f */
		if (*name == '<' && strncmp(name + 1, scopes[i], len) == 0)
			return true;
	}
	return false;
}

/* Functions that a compiler adds around main(). */
static bool is_start_up(const char *name)
{
	return strcmp(name, "_start") == 0 || strcmp(name, "_init") == 0 ||
	       strcmp(name, "_fini") == 0;
}

/*
 * Functions by which glibc and musl wait for locks and threads: in a static program they are in
 * the program's module.
 */
static bool is_of_waits(const char *name)
{
	static const char *const beginnings[] = { "pthread_",    "__pthread_",  "___pthread_",
						  "__futex_",    "__lll_",      "__new_sem_",
						  "__timedwait", "__syscall_cp" };
	static const char *const names[] = { "sem_wait",         "sem_timedwait",
					     "sem_clockwait",    "nanosleep",
					     "__nanosleep",      "clock_nanosleep",
					     "__clock_nanosleep" };

	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_of_libc(const char *name)
{
	return is_start_up(name) || is_of_waits(name);
}

bool function_is_of_toolchain(const char *name)
{
	return is_of_libc(name) || is_of_standard_scope(name);
}

/* <parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock */
bool function_is_of_parking_lot(const char *name)
{
	static const char *const crates[] = { "parking_lot::", "parking_lot_core::",
					      "lock_api::" };

	name += *name == '<';
	for (size_t i = 0; i < sizeof crates / sizeof *crates; i++) {
		if (strncmp(name, crates[i], strlen(crates[i])) == 0)
			return true;
	}
	return false;
}

bool function_is_nameless(const struct profile *profile, const struct function *function)
{
	return function->language == LANGUAGE_NATIVE && function->module.n != 0 &&
	       strstr(function->name, "+0x") != NULL &&
	       profile_get_module(profile, function->module)->path[0] == '/';
}

bool function_is_import(const struct function *function)
{
	const char *file = function->file ? function->file : "";

	if (function->language == LANGUAGE_PYTHON)
		return strncmp(function->name, "import ", strlen("import ")) == 0 ||
		       strstr(file, "importlib._bootstrap") ||
		       strstr(file, "/importlib/_bootstrap") ||
		       strcmp(function->name, "builtins.__import__") == 0;
	if (function->language != LANGUAGE_RUBY)
		return false;
	return strcmp(function->name, "Kernel#require") == 0 ||
	       strcmp(function->name, "Kernel#require_relative") == 0 ||
	       strcmp(function->name, "Kernel#load") == 0;
}

static struct origin_name origin_of_native(const struct profile *profile,
					   const struct function *function)
{
	const struct module *module = profile_get_module(profile, function->module);
	struct origin_name found;

	if (!module)
		return origin_named(ORIGIN_SYSTEM, "[no module]");
	/* Code generated at run time, without a name: "[jit]+0x7fda276c0000". */
	if (*module->path == '[' && *function->name == '[')
		return origin_named(ORIGIN_SYSTEM, module->path);
	found = origin_of_module(module->path);
	if (found.origin != ORIGIN_OWN)
		return found;
	if (is_of_standard_scope(function->name))
		return origin_named(ORIGIN_STANDARD, "std");
	if (is_of_libc(function->name))
		return origin_named(ORIGIN_SYSTEM, "libc");
	if (function->file)
		origin_of_compiled_source(function->file, &found);
	return found;
}

/* A C function that the interpreter names: "marshal.loads", "list.append", "Integer#+". */
static struct origin_name origin_of_builtin(const struct function *function)
{
	static const char *const types[] = { "builtins",  "str",     "bytes", "list",
					     "dict",      "set",     "tuple", "int",
					     "float",     "object",  "type",  "frozenset",
					     "bytearray", "complex", "range", "generator",
					     "memoryview" };
	const char *name = function->name + (*function->name == '_');
	const size_t length = strcspn(name, ".");

	if (function->language == LANGUAGE_RUBY)
		return origin_named(ORIGIN_STANDARD, "Ruby's core");
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strlen(types[i]) == length && strncmp(types[i], name, length) == 0)
			return origin_named(ORIGIN_STANDARD, "Python's built-ins");
	}
	if (name[length] == '\0' || *name == '[')
		return origin_named(ORIGIN_STANDARD, "Python's built-ins");
	return (struct origin_name){ .origin = ORIGIN_STANDARD,
				     .name = name,
				     .length = length };
}

struct origin_name function_origin(const struct profile *profile,
				   const struct function *function)
{
	switch (function->language) {
	case LANGUAGE_KERNEL:
		return origin_named(ORIGIN_KERNEL, "the kernel");
	case LANGUAGE_FATHOM:
		return origin_named(ORIGIN_FATHOM, function->name);
	case LANGUAGE_REGION:
		return origin_named(ORIGIN_OWN, "regions");
	case LANGUAGE_PYTHON:
	case LANGUAGE_RUBY:
		return function->file ? origin_of_source(function->file)
				      : origin_of_builtin(function);
	default:
		return origin_of_native(profile, function);
	}
}
