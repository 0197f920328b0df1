#include "symbolizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/table.h"
#include "debug_server.h"
#include "module.h"
#include "target/build_id.h"

/*
 * Limit on files kept in memory, the most recently used ones. Callers go module by module, so
 * that a released file is rarely read twice.
 */
#define HELD_SIZE_MAX (UINT64_C(1) << 30)

/* A cached lookup result. */
struct place {
	uint64_t address;
	struct symbol_location *locations;
	size_t count;
};

/* A region of generated code. */
struct region {
	uint64_t start, end;
};

struct symbol_module {
	struct symbolizer *symbolizer;
	struct symbol_module *next;
	const char *basename;
	const struct symbol_source *source;
	void *state;
	size_t held_size; /* of its files in memory; 0: released */
	uint64_t last_asked;
	struct region *regions;
	size_t region_count, region_capacity;
	struct table places; /* address looked up to struct place, in the symbolizer's arena */
};

struct symbolizer {
	struct notes *notes; /* may be NULL */
	struct intern strings;
	struct arena arena;
	struct table opened; /* path and build id to struct symbol_module */
	struct symbol_module *modules;
	uint64_t asked_count; /* counts lookups, for last_asked */
	uint64_t held_size;   /* of all modules */
	char *debug_root;     /* NULL: /usr/lib/debug */
	struct debug_server *debug_server;
	bool leaves_lines;
};

struct symbolizer *symbolizer_new(struct notes *notes)
{
	struct symbolizer *symbolizer = xzalloc(sizeof *symbolizer);

	symbolizer->notes = notes;
	return symbolizer;
}

void symbolizer_set_debug_root(struct symbolizer *symbolizer, const char *path)
{
	free(symbolizer->debug_root);
	symbolizer->debug_root = xstrdup(path);
}

void symbolizer_ask_servers(struct symbolizer *symbolizer,
			    void (*progress)(void *context, size_t done, size_t total),
			    void *context)
{
	debug_server_free(symbolizer->debug_server);
	symbolizer->debug_server = debug_server_new(progress, context);
}

void symbolizer_leave_installed_lines(struct symbolizer *symbolizer)
{
	symbolizer->leaves_lines = true;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	while (symbolizer->modules) {
		struct symbol_module *module = symbolizer->modules;
		symbolizer->modules = module->next;
		module->source->free(module->state);
		table_done(&module->places);
		free(module->regions);
		free(module);
	}
	table_done(&symbolizer->opened);
	intern_done(&symbolizer->strings);
	arena_done(&symbolizer->arena);
	debug_server_free(symbolizer->debug_server);
	free(symbolizer->debug_root);
	free(symbolizer);
}

void symbolizer_freep(struct symbolizer **symbolizer)
{
	symbolizer_free(*symbolizer);
	*symbolizer = NULL;
}

static const char *keep(struct symbolizer *symbolizer, const char *string)
{
	return intern_get(&symbolizer->strings, intern_string(&symbolizer->strings, string),
			  NULL);
}

static struct symbol_module *add_module(struct symbolizer *symbolizer, const char *path,
					const struct symbol_source *source, void *state)
{
	struct symbol_module *module = xzalloc(sizeof *module);
	const char *slash = strrchr(path, '/');

	module->symbolizer = symbolizer;
	module->basename = keep(symbolizer, slash && slash[1] ? slash + 1 : path);
	module->source = source;
	module->state = state;
	module->next = symbolizer->modules;
	symbolizer->modules = module;
	return module;
}

struct symbol_module *symbolizer_open_elf(struct symbolizer *symbolizer, const char *path,
					  const uint8_t *build_id, size_t build_id_len)
{
	uint32_t path_id = intern_string(&symbolizer->strings, path);
	uint32_t build =
		build_id_len ? intern_add(&symbolizer->strings, build_id, build_id_len) : 0;
	uint64_t *known = table_at(&symbolizer->opened, path_id, build, NULL);

	if (*known)
		return (struct symbol_module *)(uintptr_t)*known;
	void *state = elf_source_new(
		&(struct elf_source_options){
			.path = path,
			.build_id = build_id,
			.build_id_len = build_id_len,
			.debug_root = symbolizer->debug_root,
			.debug_server = symbolizer->debug_server,
			.leaves_lines = symbolizer->leaves_lines,
		},
		&symbolizer->strings, symbolizer->notes);
	struct symbol_module *module = add_module(symbolizer, path, &elf_source, state);
	*known = (uintptr_t)module;
	return module;
}

struct symbol_module *symbolizer_open_image(struct symbolizer *symbolizer, const char *name,
					    const void *image, size_t len)
{
	void *state = elf_source_new(
		&(struct elf_source_options){
			.path = name,
			.image = image,
			.image_len = len,
			.debug_root = symbolizer->debug_root,
			.debug_server = symbolizer->debug_server,
			.leaves_lines = symbolizer->leaves_lines,
		},
		&symbolizer->strings, symbolizer->notes);

	return add_module(symbolizer, name, &elf_source, state);
}

struct symbol_module *symbolizer_open_vdso(struct symbolizer *symbolizer)
{
	size_t len = 0;
	const void *image = vdso_image(&len);

	if (!image) /* an empty image has no names, and gets a note */
		image = "";
	return symbolizer_open_image(symbolizer, "[vdso]", image, len);
}

struct symbol_module *symbolizer_open_perf_map(struct symbolizer *symbolizer, const char *name,
					       const void *text, size_t len)
{
	return add_module(symbolizer, name, &named_ranges_source,
			  perf_map_source_new(text, len, &symbolizer->strings));
}

struct symbol_module *symbolizer_open_jitdump(struct symbolizer *symbolizer, const char *name,
					      const void *data, size_t len)
{
	return add_module(
		symbolizer, name, &named_ranges_source,
		jitdump_source_new(name, data, len, &symbolizer->strings, symbolizer->notes));
}

/* Merges regions that touch this one into it. */
static void absorb_regions(struct symbol_module *module, struct region *region)
{
	size_t kept = 0;

	for (size_t i = 0; i < module->region_count; i++) {
		const struct region *other = &module->regions[i];

		if (other->end < region->start || other->start > region->end) {
			module->regions[kept++] = *other;
			continue;
		}
		region->start = other->start < region->start ? other->start : region->start;
		region->end = other->end > region->end ? other->end : region->end;
	}
	module->region_count = kept;
}

void symbol_module_add_region(struct symbol_module *module, uint64_t start, uint64_t end)
{
	struct region region = { start, end };

	if (start >= end)
		return;
	absorb_regions(module, &region);
	module->regions = array_grow(module->regions, module->region_count,
				     &module->region_capacity, sizeof *module->regions);
	module->regions[module->region_count++] = region;
}

static void answer_region(const struct symbol_module *module, struct answer *answer)
{
	for (size_t i = 0; i < module->region_count; i++) {
		const struct region *region = &module->regions[i];

		if (answer->address < region->start || answer->address >= region->end)
			continue;
		answer->function_start = region->start;
		answer->gap_end = region->end;
	}
}

static const char *name_of_unnamed(struct symbol_module *module, const struct answer *answer)
{
	CLEANUP(freep)
	char *name = xasprintf("%s+0x%" PRIx64, module->basename, answer->function_start);

	if (answer->gap_end == 0)
		return keep(module->symbolizer, name);
	CLEANUP(freep) char *gap = xasprintf("%s…0x%" PRIx64, name, answer->gap_end);

	return keep(module->symbolizer, gap);
}

static struct symbol_module *longest_unasked(struct symbolizer *symbolizer)
{
	struct symbol_module *found = NULL;

	for (struct symbol_module *m = symbolizer->modules; m; m = m->next)
		if (m->held_size > 0 && (!found || m->last_asked < found->last_asked))
			found = m;
	return found;
}

/* Called after a lookup in module, which may have read its files. */
static void limit_memory(struct symbolizer *symbolizer, struct symbol_module *module)
{
	module->last_asked = ++symbolizer->asked_count;
	if (module->held_size > 0 || !module->source->held_size)
		return;
	module->held_size = module->source->held_size(module->state);
	symbolizer->held_size += module->held_size;
	while (symbolizer->held_size > HELD_SIZE_MAX) {
		struct symbol_module *oldest = longest_unasked(symbolizer);
		if (oldest == module) /* it alone exceeds the limit */
			return;
		oldest->source->release(oldest->state);
		symbolizer->held_size -= oldest->held_size;
		oldest->held_size = 0;
	}
}

static void ask_source(struct symbol_module *module, uint64_t address, struct place *place)
{
	struct answer answer = { .address = address, .function_start = address };

	module->source->look_up(module->state, address, &answer);
	limit_memory(module->symbolizer, module);
	if (answer.count == 0)
		answer_region(module, &answer);
	if (answer.count == 0)
		answer.locations[answer.count++] = (struct symbol_location){ .name = NULL };
	for (size_t i = 0; i < answer.count; i++)
		if (!answer.locations[i].name)
			answer.locations[i].name = name_of_unnamed(module, &answer);
	size_t size = answer.count * sizeof answer.locations[0];
	place->address = answer.address;
	place->count = answer.count;
	place->locations = arena_alloc(&module->symbolizer->arena, size);
	memcpy(place->locations, answer.locations, size);
}

static const struct place *find_place(struct symbol_module *module, uint64_t address)
{
	uint64_t *kept = table_at(&module->places, 0, address, NULL);

	if (!*kept) {
		struct place *place = arena_alloc(&module->symbolizer->arena, sizeof *place);
		*kept = (uintptr_t)place;
		ask_source(module, address, place);
	}
	return (const struct place *)(uintptr_t)*kept;
}

void symbol_module_look_up(struct symbol_module *module, uint64_t address,
			   void (*visit)(void *context, const struct symbol_location *location),
			   void *context, uint64_t *out_address)
{
	const struct place *place = find_place(module, address);

	for (size_t i = 0; i < place->count; i++)
		visit(context, &place->locations[i]);
	if (out_address)
		*out_address = place->address;
}

bool symbol_module_has_unread_lines(const struct symbol_module *module)
{
	return module->source->has_unread_lines &&
	       module->source->has_unread_lines(module->state);
}

size_t symbol_read_build_id(const char *path, uint8_t out_id[20])
{
	return elf_build_id_read(path, out_id);
}
