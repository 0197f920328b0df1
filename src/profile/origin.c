#include "profile/origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/agent_path.h"

static const char *const words[ORIGIN_COUNT] = {
	[ORIGIN_OWN] = "own",           [ORIGIN_PACKAGE] = "package",
	[ORIGIN_STANDARD] = "standard", [ORIGIN_INTERPRETER] = "interpreter",
	[ORIGIN_SYSTEM] = "system",     [ORIGIN_KERNEL] = "kernel",
	[ORIGIN_FATHOM] = "fathom",
};

const char *origin_word(enum origin origin)
{
	return words[origin];
}

static struct origin_name named(enum origin origin, const char *name, size_t length)
{
	return (struct origin_name){ .origin = origin, .name = name, .length = length };
}

static bool starts_with(const char *string, const char *start)
{
	return strncmp(string, start, strlen(start)) == 0;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The path after the folder: "flask/app.py" of "…/site-packages/flask/app.py", or NULL. */
static const char *behind_folder(const char *path, const char *folder)
{
	const char *at = strstr(path, folder);

	return at ? at + strlen(folder) : NULL;
}

/*
 * Named by the first component without file suffixes: "six" of "six.py", "_yaml" of
 * "_yaml.cpython.so".
 */
static struct origin_name named_by_component(enum origin origin, const char *path)
{
	const size_t length = strcspn(path, "/");

	if (path[length] == '/') {
		const size_t suffix = sizeof ".libs" - 1;
		const bool has_suffix =
			length > suffix && memcmp(path + length - suffix, ".libs", suffix) == 0;

		return named(origin, path, has_suffix ? length - suffix : length);
	}
	return named(origin, path, strcspn(path, "."));
}

/* The path after "/python3.11/" or "/python3/", or NULL. */
static const char *behind_python(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/python")) != NULL; at++) {
		const char *end = at + sizeof "/python" - 1;

		if (!isdigit((unsigned char)*end))
			continue;
		end += strspn(end, "0123456789.t");
		if (*end == '/')
			return end + 1;
	}
	return NULL;
}

static bool find_python(const char *path, struct origin_name *out)
{
	const char *package = behind_folder(path, "/site-packages/");

	if (!package)
		package = behind_folder(path, "/dist-packages/");
	if (package) {
		*out = named_by_component(ORIGIN_PACKAGE, package);
		return true;
	}
	const char *module = behind_python(path);

	/* A program put at .../python3.11/app.py is not a library. */
	if (!module || !(strstr(path, "/lib/python") || strstr(path, "/lib64/python")))
		return false;
	if (starts_with(module, "lib-dynload/"))
		module += sizeof "lib-dynload/" - 1;
	/* Extension modules like _json belong to json. */
	module += *module == '_' && module[1] != '_';
	*out = named_by_component(ORIGIN_STANDARD, module);
	return true;
}

/*
 * "puma" of "puma-5.6.5/lib/puma.rb": the version begins at the last dash followed by a digit.
 */
static struct origin_name gem(const char *name)
{
	const size_t whole = strcspn(name, "/");

	for (size_t i = whole; i-- > 1;) {
		if (name[i] == '-' && isdigit((unsigned char)name[i + 1]))
			return named(ORIGIN_PACKAGE, name, i);
	}
	return named(ORIGIN_PACKAGE, name, whole);
}

/* The path after "/ruby/3.1.0/", and after the architecture's folder in it; or NULL. */
static const char *behind_ruby_version(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/ruby/")) != NULL; at++) {
		const char *end = at + sizeof "/ruby/" - 1;

		if (!isdigit((unsigned char)*end))
			continue;
		end += strspn(end, "0123456789.+");
		if (*end != '/')
			continue;
		end++;
		const size_t folder = strcspn(end, "/");
		const bool is_architecture =
			memmem(end, folder, "-linux", sizeof "-linux" - 1) != NULL;

		return is_architecture && end[folder] ? end + folder + 1 : end;
	}
	return NULL;
}

/* The path after the last such folder: gems are in .../lib/ruby/gems/3.1.0/gems/puma-5.6.5. */
static const char *behind_last_folder(const char *path, const char *folder)
{
	const char *at = NULL;

	for (const char *next = path; (next = behind_folder(next, folder)) != NULL; next--)
		at = next;
	return at;
}

static bool find_ruby(const char *path, struct origin_name *out)
{
	const char *at = behind_last_folder(path, "/gems/");

	if (at && memchr(at, '-', strcspn(at, "/"))) {
		*out = gem(at);
		return true;
	}
	at = behind_folder(path, "/ruby/vendor_ruby/");
	if (!at)
		at = behind_folder(path, "/ruby/site_ruby/");
	if (at) {
		*out = named_by_component(ORIGIN_PACKAGE, at);
		return true;
	}
	at = behind_ruby_version(path);
	if (at)
		*out = named_by_component(ORIGIN_STANDARD, at);
	return at != NULL;
}

/* Folders managed by the distribution; /usr/local is the administrator's. */
static bool is_of_distribution(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib/",  "/lib64/",  "/lib32/",
					       "/bin/", "/sbin/", "/opt/",    "/nix/",
					       "/gnu/", "/snap/", "/app/lib/" };

	if (starts_with(path, "/usr/local/") || starts_with(path, "/usr/src/"))
		return false;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (starts_with(path, folders[i]))
			return true;
	}
	return false;
}

/* Code without a file: typed by the user, or generated by libraries at run time. */
static struct origin_name of_made_source(const char *path)
{
	static const char *const own[] = { "<string>", "<stdin>", "<console>", "<ipython",
					   "<cell",    "-e",      "(irb)",     "(eval" };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		if (starts_with(path, own[i]))
			return named(ORIGIN_OWN, path, strlen(path));
	}
	/* Ruby's "<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>" */
	if (starts_with(path, "<internal:/"))
		return origin_of_source(path + sizeof "<internal:" - 1);
	if (starts_with(path, "<frozen ")) {
		const char *name = path + sizeof "<frozen " - 1;

		return named(ORIGIN_STANDARD, name, strcspn(name, ".>"));
	}
	if (strcmp(path, "<__array_function__ internals>") == 0)
		return named(ORIGIN_PACKAGE, "numpy", strlen("numpy"));
	return named(ORIGIN_STANDARD, path, strlen(path));
}

struct origin_name origin_of_source(const char *path)
{
	struct origin_name found;

	if (*path != '/' && (*path == '<' || *path == '(' || strcmp(path, "-e") == 0))
		return of_made_source(path);
	if (find_python(path, &found) || find_ruby(path, &found))
		return found;
	const char *name = last_component(path);

	return named(is_of_distribution(path) ? ORIGIN_SYSTEM : ORIGIN_OWN, name, strlen(name));
}

/* "python3.11", "libpython3.so.1.0", "ruby3.1", "libruby-3.1.so.3.1", "ruby". */
static bool is_interpreter(const char *name)
{
	static const char *const starts[] = { "libpython", "python", "libruby", "ruby" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		if (!starts_with(name, starts[i]))
			continue;
		const char *rest = name + strlen(starts[i]);

		rest += *rest == '-';
		rest += strspn(rest, "0123456789.dmut");
		if (*rest == '\0' || starts_with(rest, "so") || starts_with(rest, ".so"))
			return true;
	}
	return false;
}

/* "serde" of "serde-1.0.188/src/de.rs", "github.com/x/y" of "github.com/x/y@v1.2.0/z.go". */
static bool find_fetched_source(const char *path, struct origin_name *out)
{
	const char *crate = behind_folder(path, "/registry/src/");
	const char *module = behind_folder(path, "/pkg/mod/");

	crate = crate ? strchr(crate, '/') : NULL;
	if (crate)
		*out = gem(crate + 1);
	else if (module)
		*out = named(ORIGIN_PACKAGE, module, strcspn(module, "@"));
	return crate || module;
}

bool origin_of_compiled_source(const char *path, struct origin_name *out)
{
	const char *rust =
		starts_with(path, "/rustc/") ? behind_folder(path, "/library/") : NULL;
	const char *go = behind_folder(path, "/src/");

	if (find_fetched_source(path, out))
		return true;
	if (rust) {
		*out = named_by_component(ORIGIN_STANDARD, rust);
	} else if (starts_with(path, "/usr/include/")) {
		const char *name = path + sizeof "/usr/include/" - 1;

		*out = starts_with(name, "c++/") ? named(ORIGIN_STANDARD, "std", 3)
						 : named_by_component(ORIGIN_SYSTEM, name);
	} else if (go &&
		   (starts_with(path, "/usr/lib/go") || starts_with(path, "/usr/share/go") ||
		    starts_with(path, "/usr/local/go/"))) {
		*out = named_by_component(ORIGIN_STANDARD, go);
	} else {
		return false;
	}
	return true;
}

struct origin_name origin_of_module(const char *path)
{
	struct origin_name found;
	const char *name = last_component(path);

	if (path_is_agent(path))
		return named(ORIGIN_SYSTEM, name, strlen(name));
	if (starts_with(path, "[v") || starts_with(path, "[kernel"))
		return named(ORIGIN_SYSTEM, path, strlen(path));
	if (is_interpreter(name))
		return named(ORIGIN_INTERPRETER, name, strlen(name));
	if (find_python(path, &found) || find_ruby(path, &found))
		return found;
	return named(is_of_distribution(path) ? ORIGIN_SYSTEM : ORIGIN_OWN, name, strlen(name));
}
