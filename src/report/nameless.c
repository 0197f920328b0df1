#include "report/nameless.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/function_origin.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "profile/sum.h"
#include "report/head.h"
#include "report/number.h"
#include "report/report_options.h"
#include "report/selection.h"

enum { WORTH_PERCENT = 5, NAME_COLUMNS = 24 };

/*
 * The time in functions without a name, by module id, where 0 is no module. The caller frees
 * it.
 */
static uint64_t *sum_by_module(const struct selection *selection, uint64_t *out_all)
{
	const struct profile *profile = selection->profile;
	uint64_t *sums = xzalloc((profile_module_count(profile) + 1) * sizeof *sums);
	bool is_saturated = false;

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct stack *stack = profile_get_stack(profile, weight->stack);

		if (!stack || !filter_keeps(selection->filter, weight))
			continue;
		const struct function *function = profile_get_function(
			profile, profile_get_frame(profile, stack->frame)->function);

		if (!function_is_nameless(profile, function))
			continue;
		sum_add(&sums[function->module.n], weight->ns, &is_saturated);
		sum_add(out_all, weight->ns, &is_saturated);
	}
	return sums;
}

/* GHC omits the names of functions that a module does not export. */
static bool is_haskell(const struct profile *profile, struct module_id module)
{
	for (uint32_t n = 1; n <= profile_function_count(profile); n++) {
		const struct function *function =
			profile_get_function(profile, (struct function_id){ n });

		if (function->module.n == module.n && strcmp(function->name, "hs_main") == 0)
			return true;
	}
	return false;
}

/* What would provide names for its code. */
static void add_remedy(struct text *remedy, const struct profile *profile,
		       struct module_id module, const struct report_options *options)
{
	const char *path = profile_get_module(profile, module)->path;
	CLEANUP(freep)
	char *package = options->package_of ? options->package_of(path) : NULL;

	if (is_haskell(profile, module))
		text_add(remedy, "ghc leaves out what modules do not export; of your own "
				 "code 'ghc -g' has it");
	else if (!package && options->package_of)
		text_add(remedy, "no package has it; built without '-s' and not stripped it "
				 "has them");
	else
		text_addf(remedy, "install %s%s, or set DEBUGINFOD_URLS",
			  package ? package : "its debug package", package ? "-dbgsym" : "");
}

void nameless_add(const struct selection *selection, const struct report_options *options,
		  const struct style *style, struct text *out)
{
	uint64_t all_ns = 0;
	CLEANUP(freep) uint64_t *sums = sum_by_module(selection, &all_ns);
	uint32_t most = 0;

	for (uint32_t n = 1; n <= profile_module_count(selection->profile); n++)
		most = sums[n] > sums[most] ? n : most;
	if (most == 0 || number_percent(all_ns, selection->ns) < WORTH_PERCENT)
		return;
	const struct module_id module = { most };
	const char *path = profile_get_module(selection->profile, module)->path;
	const char *slash = strrchr(path, '/');
	CLEANUP(text_done) struct text remedy = { 0 };

	add_remedy(&remedy, selection->profile, module, options);
	CLEANUP(text_done) struct text name = { 0 };

	short_name_add(&name, slash ? slash + 1 : path, NAME_COLUMNS);
	head_add_line(out, style, "names", "%.1f %% is in code without names, mostly %s: %s",
		      number_percent(all_ns, selection->ns), text_string(&name),
		      text_string(&remedy));
}
