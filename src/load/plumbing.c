#include "load/plumbing.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *string, const char *with)
{
	return strncmp(string, with, strlen(with)) == 0;
}

static bool begins_with_any(const char *string, const char *const *with)
{
	for (; *with; with++)
		if (begins(string, *with))
			return true;
	return false;
}

/* CPython's own build puts its extension modules there, and no others are there (setup.py). */
static bool is_pythons_standard(const char *path)
{
	return strstr(path, "/lib-dynload/") != NULL;
}

static bool has_any_part(const char *path, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(path, *parts))
			return true;
	return false;
}

/*
 * RbConfig's rubyarchdir: /usr/lib/x86_64-linux-gnu/ruby/3.1.0 in Debian,
 * PREFIX/lib/ruby/3.1.0/x86_64-linux elsewhere.  Files that are not CRuby's are next to the
 * version's folder (lib/ruby/gems/3.1.0, lib/ruby/site_ruby), or deeper where the version is
 * that of a prefix (~/.asdf/installs/ruby/3.1.0/lib) or of a folder of gems
 * (~/.gem/ruby/3.1.0/gems).
 */
static bool is_rubys_standard(const char *path)
{
	static const char *const others[] = { "/gems/",        "/extensions/", "/site_ruby/",
					      "/vendor_ruby/", "/lib/",        NULL };
	const char *at = strstr(path, "/ruby/");

	for (; at; at = strstr(at + 1, "/ruby/"))
		if (isdigit((unsigned char)at[strlen("/ruby/")]) && !has_any_part(at, others))
			return true;
	return false;
}

/* PEP 7: Py_, PyList_, _Py, but not Pyramid. */
static bool is_pythons_name(const char *name)
{
	return begins(name, "_Py") ||
	       (begins(name, "Py") && (name[2] == '_' || (name[2] >= 'A' && name[2] <= 'Z')));
}

/*
 * CRuby's functions begin with rb_, as those of red-black trees do, and its static ones with
 * anything.  So these are the families of its API, and of its interpreter loop.
 */
static bool is_rubys_name(const char *name)
{
	static const char *const families[] = {
		"rb_ary_",    "rb_block_",  "rb_call",       "rb_catch",   "rb_class_",
		"rb_const_",  "rb_define_", "rb_each",       "rb_ec_",     "rb_enc_",
		"rb_ensure",  "rb_eval_",   "rb_exc_",       "rb_fiber_",  "rb_file_",
		"rb_funcall", "rb_gc_",     "rb_hash_",      "rb_int_",    "rb_io_",
		"rb_iseq_",   "rb_iterate", "rb_ivar_",      "rb_load",    "rb_method_",
		"rb_mod_",    "rb_module_", "rb_mutex_",     "rb_newobj",  "rb_nogvl",
		"rb_num_",    "rb_obj_",    "rb_postponed_", "rb_proc_",   "rb_protect",
		"rb_raise",   "rb_range_",  "rb_reg_",       "rb_require", "rb_rescue",
		"rb_str_",    "rb_struct_", "rb_sym_",       "rb_thread_", "rb_throw",
		"rb_time_",   "rb_vm_",     "rb_yield",      "ruby_exec_", "ruby_options",
		"ruby_run_",  "ruby_xcall", "ruby_xmalloc",  "ruby_xfree", "ruby_xrealloc",
		"vm_call_",   "vm_exec",    "vm_invoke_",    "vm_yield_",  NULL,
	};

	return begins_with_any(name, families);
}

/* How a language's interpreter is recognised. */
static const struct own {
	const char *stem;
	const char *flags;           /* letters after the version */
	const char *const *suffixes; /* suffixes by distributions */
	bool (*is_standard)(const char *path);
	bool (*is_own_name)(const char *name);
} owns[LANGUAGE_COUNT] = {
	[LANGUAGE_PYTHON] = { "python", "dmut" /* sys.abiflags */,
			      (const char *const[]){ "-dbg", NULL }, is_pythons_standard,
			      is_pythons_name },
	[LANGUAGE_RUBY] = { "ruby", "", (const char *const[]){ "-mri", ".ruby", NULL },
			    is_rubys_standard, is_rubys_name },
};

/* What follows "ruby" or "libruby" in the file's name, or NULL for another name. */
static const char *behind_stem(const struct own *own, const char *path)
{
	const char *name = base_name(path);

	name += begins(name, "lib") ? strlen("lib") : 0;
	return begins(name, own->stem) ? name + strlen(own->stem) : NULL;
}

/*
 * True for "python3.13t", "libpython3.so.1", "libruby-3.1.so.3.1"; not for extension modules.
 */
static bool is_interpreter(const struct own *own, const char *path)
{
	const char *rest = behind_stem(own, path);

	if (!rest)
		return false;
	rest += rest[0] == '-' && isdigit((unsigned char)rest[1]) ? 1 : 0;
	rest += strspn(rest, "0123456789");
	while (rest[0] == '.' && isdigit((unsigned char)rest[1]))
		rest += 1 + strspn(rest + 1, "0123456789");
	rest += strspn(rest, own->flags);
	if (begins_with_any(rest, own->suffixes))
		return true;
	/* "python.so" is a plugin of a program with many languages. */
	return begins(base_name(path), "lib") ? begins(rest, ".so") : !*rest;
}

static bool is_libc(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-linux",
					     "ld-2",    "ld.so", NULL };

	return begins_with_any(base_name(path), names);
}

struct plumbing_file plumbing_of_file(const char *path)
{
	for (int i = 0; i < LANGUAGE_COUNT; i++) {
		const struct own *own = &owns[i];

		if (!own->stem)
			continue;
		if (is_interpreter(own, path))
			return (struct plumbing_file){ PLUMBING_INTERPRETER, (enum language)i };
		if (own->is_standard(path))
			return (struct plumbing_file){ PLUMBING_STANDARD, (enum language)i };
	}
	return (struct plumbing_file){ .kind = is_libc(path) ? PLUMBING_LIBC : PLUMBING_NONE };
}

static const struct own *own_of(enum language language)
{
	return (unsigned int)language < LANGUAGE_COUNT && owns[language].stem ? &owns[language]
									      : NULL;
}

bool plumbing_is_named_after(enum language language, const char *path)
{
	const struct own *own = own_of(language);

	return own && behind_stem(own, path) != NULL;
}

bool plumbing_is_own_name(enum language language, const char *name)
{
	const struct own *own = own_of(language);

	return own && own->is_own_name(name);
}
