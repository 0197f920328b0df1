#include "elf_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "debug_files.h"
#include "debug_server.h"
#include "debug_size.h"
#include "dwarf_info.h"
#include "elf_symbols.h"
#include "plt.h"
#include "unpack.h"

static void open_image(struct elf_module *module)
{
	struct error err;
	struct elf_image *image = NULL;
	int rc = module->bytes ? elf_image_open_memory(module->path, module->bytes,
						       module->bytes_len, &image, &err)
			       : elf_image_open(module->path, &image, &err);

	if (rc < 0) {
		if (module->notes)
			notes_add(module->notes,
				  rc == -EMEDIUMTYPE ? "%s"
						     : "one module has no function names: %s",
				  err.text);
		return;
	}
	module->image = image;
	if (module->build_id_len == 0 ||
	    (module->build_id_len == image->build_id_len &&
	     memcmp(module->build_id, image->build_id, image->build_id_len) == 0))
		return;
	if (module->notes)
		notes_add(module->notes,
			  "%s is another build than the one recorded; its functions have no "
			  "names",
			  module->path);
	elf_image_free(image);
	module->image = NULL;
}

static void open_mini(struct elf_module *module)
{
	struct error err;
	size_t packed_len;
	size_t len;
	void *data;
	const void *packed =
		elf_image_section_bytes(module->image, ".gnu_debugdata", &packed_len);

	if (!packed)
		return;
	int rc = unpack_xz(packed, packed_len, &data, &len, &err);
	if (rc == 0)
		rc = elf_image_open_owned(".gnu_debugdata", data, len, &module->mini, &err);
	if (rc < 0 && module->notes)
		notes_add(module->notes, "some function names of %s are missing: %s",
			  module->path, err.text);
}

static bool has_section(const struct elf_image *image, const char *name)
{
	GElf_Shdr header;

	return image && elf_image_section(image, name, &header) && header.sh_type != SHT_NOBITS;
}

static bool has_dwarf(const struct elf_image *image)
{
	return has_section(image, ".debug_info") || has_section(image, ".zdebug_info");
}

/* Whether its unpacked size is small enough for our memory. */
static bool is_bearable(const struct elf_module *module, const struct elf_image *image)
{
	const uint64_t unpacked = elf_image_unpacked_size(image);
	const uint64_t shared = module->alt ? elf_image_unpacked_size(module->alt) : 0;
	const size_t file_len = image->file_len + (module->alt ? module->alt->file_len : 0);
	uint64_t sum;

	if (__builtin_add_overflow(unpacked, shared, &sum))
		sum = UINT64_MAX;
	if (debug_size_is_bearable(sum, file_len))
		return true;
	if (module->notes)
		notes_add(
			module->notes,
			"no source lines of %s: its debugging information would take %.1f GiB "
			"unpacked, which is not plausible, or more than this process may map",
			module->path, (double)sum / (double)(UINT64_C(1) << 30));
	return false;
}

static void open_dwarf(struct elf_module *module)
{
	const struct elf_image *image =
		has_dwarf(module->image) ? module->image : module->debug;

	if (!has_dwarf(image))
		return;
	if (module->leaves_lines && image == module->debug &&
	    debug_file_is_installed(image, module->debug_root)) {
		module->has_unread_lines = true;
		return;
	}
	if (debug_file_open_alt(image, module->debug_root, &module->alt) < 0) {
		if (module->notes)
			notes_add(module->notes,
				  "no source lines of %s: the file its debugging information "
				  "shares with others is missing (install all debug packages)",
				  module->path);
		return;
	}
	if (!is_bearable(module, image))
		return;
	module->dwarf = dwarf_info_new(image, module->alt, module->strings);
	if (!module->dwarf && module->notes)
		notes_add(module->notes,
			  "no source lines of %s: its debugging information is damaged",
			  module->path);
}

static void open_symbols(struct elf_module *module)
{
	struct symbol_table *symbols = &module->symbols;

	frame_ranges_read(&module->ranges, module->image);
	symbols->is_whole = elf_symbols_add(symbols, module->image, SHT_SYMTAB);
	if (!symbols->is_whole && module->debug)
		symbols->is_whole = elf_symbols_add(symbols, module->debug, SHT_SYMTAB);
	elf_symbols_add(symbols, module->image, SHT_DYNSYM);
	if (module->mini)
		elf_symbols_add(symbols, module->mini, SHT_SYMTAB);
	symbol_table_finish(symbols, &module->ranges);
	plt_symbols_add(&module->stubs, symbols, module->image);
	symbol_table_finish(&module->stubs, &module->ranges);
}

/* Opens the debug file from a server; NULL if no server has it. */
static struct elf_image *fetch_debug_file(struct elf_module *module)
{
	CLEANUP(freep)
	char *path = debug_server_find(module->debug_server, module->image->build_id,
				       module->image->build_id_len, module->notes);
	struct elf_image *debug;

	if (!path || elf_image_open(path, &debug, NULL) < 0)
		return NULL;
	if (debug->build_id_len == module->image->build_id_len &&
	    memcmp(debug->build_id, module->image->build_id, debug->build_id_len) == 0)
		return debug;
	elf_image_free(debug);
	return NULL;
}

void elf_module_open(struct elf_module *module)
{
	if (module->is_opened)
		return;
	module->is_opened = true;
	open_image(module);
	if (!module->image)
		return;
	if (!has_dwarf(module->image) || !has_section(module->image, ".symtab"))
		module->debug =
			debug_file_open(module->image, module->debug_root, module->notes);
	if (!has_section(module->image, ".symtab") && !module->debug && module->debug_server)
		module->debug = fetch_debug_file(module);
	if (!has_section(module->image, ".symtab") && !module->debug)
		open_mini(module);
	open_symbols(module);
	open_dwarf(module);
	elf_image_close_file(module->image);
	elf_image_close_file(module->debug);
	elf_image_close_file(module->alt);
}
