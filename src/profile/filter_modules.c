/* Selects functions by module or source file. */
#include "profile/filter_internal.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"

/* The part after the last '/'. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Ways to match, from exact to loose; the first that matches any module is used. */
static bool is_path(const char *path, const char *wanted)
{
	return strcmp(path, wanted) == 0;
}

static bool is_base_name(const char *path, const char *wanted)
{
	return strcmp(base_name(path), wanted) == 0;
}

static bool begins_base_name(const char *path, const char *wanted)
{
	return strncmp(base_name(path), wanted, strlen(wanted)) == 0;
}

static bool is_in_path(const char *path, const char *wanted)
{
	return strstr(path, wanted) != NULL;
}

static int no_such_module(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (uint32_t i = 1; i <= profile_module_count(profile); i++)
		filter_add_name(
			&list, &count,
			base_name(profile_get_module(profile, (struct module_id){ i })->path));
	if (count == 0)
		return error_set(err, -ENOENT, "no module \"%s\": this profile has no modules",
				 wanted);
	return error_set(err, -ENOENT,
			 "no module is named \"%s\"; there are: %s (--by module lists all)",
			 wanted, text_string(&list));
}

/* The modules that match, and the functions in them. */
struct choice {
	bool *is_meant; /* by function id */
	struct text *description;
	size_t count; /* of modules and files */
};

static void choose_module(struct choice *choice, const struct profile *profile,
			  struct module_id module)
{
	for (uint32_t i = 1; i <= profile_function_count(profile); i++)
		if (profile_get_function(profile, (struct function_id){ i })->module.n ==
		    module.n)
			choice->is_meant[i] = true;
	filter_add_name(choice->description, &choice->count,
			base_name(profile_get_module(profile, module)->path));
}

/* Python and Ruby functions are in a source file, not in a module. */
static void choose_file(struct choice *choice, const struct profile *profile, const char *file)
{
	for (uint32_t i = 1; i <= profile_function_count(profile); i++) {
		const struct function *function =
			profile_get_function(profile, (struct function_id){ i });

		if (function->module.n == 0 && function->file == file)
			choice->is_meant[i] = true;
	}
	filter_add_name(choice->description, &choice->count, base_name(file));
}

int filter_choose_functions(const struct profile *profile, const char *wanted, bool *is_meant,
			    struct text *description, struct error *err)
{
	static bool (*const tiers[])(const char *path,
				     const char *wanted) = { is_path, is_base_name,
							     begins_base_name, is_in_path };
	struct choice choice = { .is_meant = is_meant, .description = description };

	text_add(description, "code of ");
	for (size_t tier = 0; tier < sizeof tiers / sizeof *tiers && *wanted; tier++) {
		for (uint32_t i = 1; i <= profile_module_count(profile); i++) {
			struct module_id id = { i };

			if (tiers[tier](profile_get_module(profile, id)->path, wanted))
				choose_module(&choice, profile, id);
		}
		for (uint32_t i = 1; i <= profile_function_count(profile); i++) {
			const struct function *function =
				profile_get_function(profile, (struct function_id){ i });

			if (!is_meant[i] && function->module.n == 0 && function->file &&
			    tiers[tier](function->file, wanted))
				choose_file(&choice, profile, function->file);
		}
		if (choice.count > 0)
			return 0;
	}
	return no_such_module(profile, wanted, err);
}
