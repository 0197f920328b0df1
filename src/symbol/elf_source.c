/*
 * Names from an ELF file. They come from up to four places: its own tables, its .gnu_debugdata,
 * its separate debug file, and that file's shared part. These are opened on the first lookup.
 */
#include "elf_module.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "demangle.h"
#include "dwarf_info.h"

/* glibc's name for it, which only debug files have. */
#define SIGNAL_TRAMPOLINE "__restore_rt"

void *elf_source_new(const struct elf_source_options *options, struct intern *strings,
		     struct notes *notes)
{
	struct elf_module *module = xzalloc(sizeof *module);

	module->strings = strings;
	module->notes = notes;
	module->path = xstrdup(options->path);
	module->debug_root = options->debug_root ? xstrdup(options->debug_root) : NULL;
	module->bytes = options->image;
	module->bytes_len = options->image_len;
	module->debug_server = options->debug_server;
	module->leaves_lines = options->leaves_lines;
	module->build_id_len = options->build_id_len < ELF_BUILD_ID_MAX ? options->build_id_len
									: ELF_BUILD_ID_MAX;
	if (module->build_id_len > 0)
		memcpy(module->build_id, options->build_id, module->build_id_len);
	return module;
}

static void elf_module_release(void *state)
{
	struct elf_module *module = state;

	dwarf_info_free(module->dwarf);
	symbol_table_done(&module->symbols);
	symbol_table_done(&module->stubs);
	frame_ranges_done(&module->ranges);
	elf_image_free(module->alt);
	elf_image_free(module->debug);
	elf_image_free(module->mini);
	elf_image_free(module->image);
	module->dwarf = NULL;
	module->symbols = module->stubs = (struct symbol_table){ 0 };
	module->ranges = (struct frame_ranges){ 0 };
	module->alt = module->debug = module->mini = module->image = NULL;
	module->is_opened = false;
}

static size_t elf_module_held_size(const void *state)
{
	const struct elf_module *module = state;
	const struct elf_image *images[] = { module->image, module->mini, module->debug,
					     module->alt };
	size_t size = 0;

	for (size_t i = 0; i < sizeof images / sizeof images[0]; i++)
		size += images[i] ? images[i]->file_len : 0;
	return size;
}

static bool elf_module_has_unread_lines(const void *state)
{
	return ((const struct elf_module *)state)->has_unread_lines;
}

static void elf_module_free(void *state)
{
	struct elf_module *module = state;

	elf_module_release(module);
	free(module->debug_root);
	free(module->path);
	free(module);
}

static const char *name_of_symbol(struct elf_module *module, const struct symbol *symbol)
{
	const char *name = demangle(module->strings, symbol->name);

	if (!symbol->is_plt)
		return name;
	CLEANUP(freep) char *stub = xasprintf("%s@plt", name);
	return intern_get(module->strings, intern_string(module->strings, stub), NULL);
}

/*
 * Whether a symbol is the mangled form of a name that DWARF gives without its scope. Other
 * symbols may have the same address: the linker may have folded identical functions.
 */
static bool is_mangled_form(const struct symbol *symbol, const char *name)
{
	size_t len = strcspn(name, "<");

	if (!is_mangled_name(symbol->name))
		return false;
	/* Operators are mangled as two letters. */
	return strncmp(name, "operator", 8) == 0 ||
	       memmem(symbol->name, strlen(symbol->name), name, len) != NULL;
}

/* Demangles a name without ".cold", ".constprop.0" and the like: all parts are one function. */
static const char *demangle_whole(struct elf_module *module, const char *mangled)
{
	CLEANUP(freep) char *whole = xstrndup(mangled, strcspn(mangled, "."));

	return demangle(module->strings, whole);
}

/*
 * Whether it is a plain name that other code may call: "read" where the source has
 * "__libc_read".
 */
static bool is_public(const struct symbol *symbol)
{
	return symbol->rank != SYMBOL_RANK_LOCAL && symbol->is_function &&
	       !is_mangled_name(symbol->name) && !strchr(symbol->name, '.');
}

/*
 * Prefers DWARF's name, which is the same in all parts of a function. But a public name is
 * better known, and available without debug files; and as compilers omit the linkage name of
 * C++'s local functions, the symbol says more than "operator()".
 */
static const char *name_of_frame(struct elf_module *module, const struct dwarf_frame *frame,
				 const struct symbol *symbol)
{
	if (frame->name && frame->is_mangled)
		return demangle(module->strings, frame->name);
	if (frame->is_inlined || !symbol)
		return frame->name;
	if (!frame->name || is_public(symbol))
		return name_of_symbol(module, symbol);
	if (is_mangled_form(symbol, frame->name))
		return demangle_whole(module, symbol->name);
	return frame->name;
}

static void answer_frames(struct elf_module *module, const struct dwarf_frame *frames,
			  size_t count, const struct symbol *symbol, struct answer *answer)
{
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_frame *frame = &frames[i];
		const char *name = name_of_frame(module, frame, symbol);
		answer->locations[answer->count++] = (struct symbol_location){
			.name = name, /* NULL: the symbolizer makes one */
			.is_named = name != NULL,
			.is_inlined = i + 1 < count,
			.file = frame->file,
			.line = frame->line,
			.line_file = frame->line_file,
			.line_number = frame->line_number,
		};
	}
}

static const struct symbol *find_symbol(const struct elf_module *module, uint64_t address)
{
	const struct symbol *stub = symbol_table_find(&module->stubs, address);

	return stub ? stub : symbol_table_find(&module->symbols, address);
}

/*
 * Assembler code has lines but no functions in DWARF, and compilers omit the definition of a
 * lambda: the line of the first instruction is used instead.
 */
static void add_definition(struct elf_module *module, const struct symbol *symbol,
			   struct answer *answer)
{
	struct symbol_location *outermost = &answer->locations[answer->count - 1];
	uint64_t start = symbol ? symbol->start : answer->function_start;

	if (!outermost->file && outermost->is_named)
		dwarf_info_find_line(module->dwarf, start, &outermost->file, &outermost->line);
}

/*
 * For hand-written assembler in a stripped file: code between two known functions is treated as
 * one.
 */
static void answer_gap(const struct elf_module *module, struct answer *answer)
{
	uint64_t low = 0, high = 0;

	for (size_t i = 0; i < module->image->segment_count; i++) {
		const struct elf_segment *segment = &module->image->segments[i];

		if (answer->address - segment->address < segment->file_len) {
			low = segment->address;
			high = segment->address + segment->file_len;
		}
	}
	frame_ranges_narrow(&module->ranges, answer->address, &low, &high);
	symbol_table_narrow(&module->symbols, answer->address, &low, &high);
	symbol_table_narrow(&module->stubs, answer->address, &low, &high);
	if (low > answer->address || high <= answer->address)
		return;
	answer->function_start = low;
	answer->gap_end = high;
}

static void elf_module_look_up(void *state, uint64_t file_offset, struct answer *answer)
{
	struct elf_module *module = state;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
	struct frame_range range;

	elf_module_open(module);
	if (!module->image || !elf_image_address(module->image, file_offset, &answer->address))
		return;
	const bool is_framed = frame_ranges_find(&module->ranges, answer->address, &range);
	answer->function_start = is_framed ? range.start : answer->address;
	const struct symbol *symbol = find_symbol(module, answer->address);
	size_t count = 0;
	if (module->dwarf)
		count = dwarf_info_look_up(module->dwarf, answer->address, frames);
	if (count > 0) {
		answer_frames(module, frames, count, symbol, answer);
		add_definition(module, symbol, answer);
	} else if (symbol) {
		answer->count = 1;
		answer->locations[0] =
			(struct symbol_location){ .name = name_of_symbol(module, symbol),
						  .is_named = true };
	} else if (!is_framed) {
		answer_gap(module, answer);
	} else if (range.is_signal) {
		answer->count = 1;
		answer->locations[0] =
			(struct symbol_location){ .name = SIGNAL_TRAMPOLINE, .is_named = true };
	}
}

const struct symbol_source elf_source = {
	.look_up = elf_module_look_up,
	.held_size = elf_module_held_size,
	.release = elf_module_release,
	.has_unread_lines = elf_module_has_unread_lines,
	.free = elf_module_free,
};
