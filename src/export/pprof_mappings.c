#include "export/pprof_mappings.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "export/meaning.h"
#include "export/pprof_writer.h"
#include "pprof.pb-c.h"
#include "profile/profile.h"

uint32_t pprof_mapping_of(const struct function *function)
{
	return function->language == LANGUAGE_NATIVE ? function->module.n : 0;
}

static const char *build_id_hex(const struct module *module, char hex[41])
{
	static const char digits[] = "0123456789abcdef";
	size_t len = module->build_id_len < 20 ? module->build_id_len : 20;

	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[module->build_id[i] >> 4];
		hex[2 * i + 1] = digits[module->build_id[i] & 15];
	}
	hex[2 * len] = '\0';
	return hex;
}

/* Which names a module has, so that pprof does not look them up again. */
struct coverage {
	bool is_used, has_files;
};

static void write_mapping(struct pprof_writer *writer, const struct profile *profile,
			  uint32_t n, const struct coverage *coverage)
{
	const struct module *module = profile_get_module(profile, (struct module_id){ n });
	Pprof__Mapping out = PPROF__MAPPING__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char hex[41];

	out.id = n;
	out.memory_limit = UINT64_MAX;
	out.filename = pprof_string(writer, module->path);
	out.build_id = pprof_string(writer, build_id_hex(module, hex));
	out.has_functions = true;
	out.has_filenames = out.has_line_numbers = out.has_inline_frames = coverage->has_files;
	part.n_mapping = 1;
	part.mapping = (Pprof__Mapping *[]){ &out };
	pprof_write(writer, &part.base);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* pprof takes the first mapping for the program's, so the command's comes first. */
static uint32_t main_module(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);

	for (uint32_t n = 1; info->command_count > 0 && n <= profile_module_count(profile);
	     n++) {
		const char *path = profile_get_module(profile, (struct module_id){ n })->path;
		if (path && strcmp(base_name(path), base_name(info->command[0])) == 0)
			return n;
	}
	return 0;
}

void pprof_write_mappings(struct pprof_writer *writer, const struct profile *profile)
{
	size_t modules = profile_module_count(profile);
	CLEANUP(freep) struct coverage *coverage = xzalloc((modules + 1) * sizeof *coverage);
	uint32_t first = main_module(profile);

	for (uint32_t n = 1; n <= profile_function_count(profile); n++) {
		const struct function *function = meaning_of_function(profile, n);
		coverage[pprof_mapping_of(function)].is_used = true;
		coverage[pprof_mapping_of(function)].has_files |= function->file != NULL;
	}
	if (coverage[first].is_used && first != 0)
		write_mapping(writer, profile, first, &coverage[first]);
	for (uint32_t n = 1; n <= modules; n++)
		if (n != first && coverage[n].is_used)
			write_mapping(writer, profile, n, &coverage[n]);
}
