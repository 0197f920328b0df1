#include "load/modules.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular_file.h"
#include "record/keys.h"
#include "record/reader.h"
#include "symbol/symbolizer.h"

static struct module_source *find_module(const struct module_sources *sources, uint32_t id)
{
	uint64_t index = 0;

	if (!table_get(&sources->index_of_id, 0, id, &index))
		return NULL;
	return &sources->modules[index - 1];
}

static const char *keep_string(struct module_sources *sources, const char *string)
{
	return intern_get(&sources->strings, intern_string(&sources->strings, string), NULL);
}

static int read_module(void *context, const struct recording_module *row)
{
	struct module_sources *sources = context;
	struct module_source source = { .module = *row };

	source.module.path = keep_string(sources, row->path);
	sources->modules = array_grow(sources->modules, sources->module_count,
				      &sources->module_capacity, sizeof *sources->modules);
	sources->modules[sources->module_count++] = source;
	*table_at(&sources->index_of_id, 0, row->id, NULL) = sources->module_count;
	return 0;
}

static int read_mapping(void *context, const struct recording_mapping *row)
{
	struct module_sources *sources = context;
	struct module_source *source = find_module(sources, row->module);

	if (source && source->process == 0)
		source->process = row->process;
	if (!source)
		return 0;
	/* Addresses in a file are file offsets. */
	const uint64_t start =
		source->module.kind == MODULE_KIND_ELF ? row->file_offset : row->start;

	if (source->module.kind != MODULE_KIND_JIT && source->module.kind != MODULE_KIND_ELF)
		return 0;
	sources->regions = array_grow(sources->regions, sources->region_count,
				      &sources->region_capacity, sizeof *sources->regions);
	sources->regions[sources->region_count++] =
		(struct made_region){ row->module, start, start + (row->end - row->start) };
	return 0;
}

static struct kept_file *keep_file(struct module_sources *sources, uint32_t process,
				   const char *path, void *data, size_t len)
{
	sources->files = array_grow(sources->files, sources->file_count,
				    &sources->file_capacity, sizeof *sources->files);
	sources->files[sources->file_count] =
		(struct kept_file){ process, keep_string(sources, path), data, len };
	return &sources->files[sources->file_count++];
}

static int read_file(void *context, const struct recording_file *row)
{
	void *data = xmalloc(row->len + 1);

	if (row->len)
		memcpy(data, row->data, row->len);
	keep_file(context, row->process, row->path ? row->path : "", data, row->len);
	return 0;
}

/* Whether host, as KEY_HOST has it, is what this machine would write. */
static bool is_this_kernel(const char *host)
{
	struct utsname name;

	if (!host || uname(&name) < 0)
		return false;
	CLEANUP(freep)
	char *here = xasprintf("%s %s %s", name.sysname, name.release, name.machine);

	return strcmp(here, host) == 0;
}

int module_sources_read(struct module_sources *sources, struct recording_reader *reader,
			struct error *err)
{
	int rc = recording_reader_each_module(reader, read_module, sources, err);

	if (rc == 0)
		rc = recording_reader_each_mapping(reader, read_mapping, sources, err);
	if (rc == 0)
		rc = recording_reader_each_file(reader, read_file, sources, err);
	sources->is_same_kernel = is_this_kernel(recording_reader_get(reader, KEY_HOST));
	return rc;
}

void module_sources_done(struct module_sources *sources)
{
	for (size_t i = 0; i < sources->file_count; i++)
		free(sources->files[i].data);
	free(sources->files);
	free(sources->regions);
	free(sources->modules);
	table_done(&sources->index_of_id);
	intern_done(&sources->strings);
	*sources = (struct module_sources){ 0 };
}

static void add_source(struct module_source *source, struct symbol_module *symbols)
{
	if (source->source_count < SOURCES_PER_MODULE)
		source->sources[source->source_count++] = symbols;
}

/* Names every address of the module "name+0xaddress". */
static void add_nameless(struct module_source *source, struct symbolizer *symbolizer,
			 const char *name)
{
	add_source(source, symbolizer_open_perf_map(symbolizer, name, "", 0));
}

/* The build id of an image in memory, read through a temporary memfd. */
static size_t read_build_id(const struct kept_file *file, uint8_t out_id[20])
{
	CLEANUP(closep) int fd = memfd_create("fathom", MFD_CLOEXEC);
	const char *at = file->data;
	size_t left = file->len;

	while (fd >= 0 && left) {
		ssize_t written = write(fd, at, left);

		if (written <= 0)
			return 0;
		at += written;
		left -= (size_t)written;
	}
	CLEANUP(freep) char *path = xasprintf("/proc/self/fd/%d", fd);

	return fd < 0 ? 0 : symbol_read_build_id(path, out_id);
}

/* The copy of the module: one path may have had several builds while it was recorded. */
static const struct kept_file *find_copy(const struct module_sources *sources,
					 const struct recording_module *module)
{
	for (size_t i = 0; module->path && i < sources->file_count; i++) {
		const struct kept_file *file = &sources->files[i];
		uint8_t build_id[20];

		if (strcmp(file->path, module->path) != 0)
			continue;
		if (module->build_id_len == 0 ||
		    (read_build_id(file, build_id) == module->build_id_len &&
		     memcmp(build_id, module->build_id, module->build_id_len) == 0))
			return file;
	}
	return NULL;
}

static void add_regions(const struct module_sources *sources,
			const struct module_source *source)
{
	for (size_t i = 0; i < sources->region_count; i++) {
		const struct made_region *region = &sources->regions[i];

		for (size_t j = 0;
		     region->module == source->module.id && j < source->source_count; j++)
			symbol_module_add_region(source->sources[j], region->start,
						 region->end);
	}
}

/* Whether the file is not ELF, as a core of SBCL, which maps its functions from such a file. */
static bool is_of_another_format(const char *path)
{
	char magic[SELFMAG];
	struct stat st;
	CLEANUP(closep) int fd = regular_file_open(path, &st);

	return fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG &&
	       memcmp(magic, ELFMAG, SELFMAG) != 0;
}

static void open_elf(struct module_sources *sources, struct module_source *source,
		     struct symbolizer *symbolizer)
{
	const struct recording_module *module = &source->module;
	const struct kept_file *copy = find_copy(sources, module);

	if (copy)
		add_source(source, symbolizer_open_image(symbolizer, module->path, copy->data,
							 copy->len));
	else if (module->path)
		add_source(source, symbolizer_open_elf(symbolizer, module->path,
						       module->build_id, module->build_id_len));
	else
		add_nameless(source, symbolizer, "[unknown]");
	if (!copy && module->path && is_of_another_format(module->path))
		add_regions(sources, source);
}

static void open_vdso(struct module_sources *sources, struct module_source *source,
		      struct symbolizer *symbolizer)
{
	const struct kept_file *copy = find_copy(sources, &source->module);

	if (copy)
		add_source(source,
			   symbolizer_open_image(symbolizer, "[vdso]", copy->data, copy->len));
	else if (sources->is_same_kernel)
		add_source(source, symbolizer_open_vdso(symbolizer));
	else
		add_nameless(source, symbolizer, "[vdso]");
}

/* The first kept file of the module's process whose path ends as pattern says. */
static const struct kept_file *find_jit_file(const struct module_sources *sources,
					     const struct module_source *source,
					     const char *pattern)
{
	for (size_t i = 0; i < sources->file_count; i++) {
		const struct kept_file *file = &sources->files[i];
		const char *slash = strrchr(file->path, '/');

		if (file->process == source->process &&
		    fnmatch(pattern, slash ? slash + 1 : file->path, 0) == 0)
			return file;
	}
	return NULL;
}

static void open_jit(struct module_sources *sources, struct module_source *source,
		     struct symbolizer *symbolizer)
{
	const char *name = source->module.kind == MODULE_KIND_JIT ? "[jit]" : "[unknown]";
	const struct kept_file *map = find_jit_file(sources, source, "perf-*.map");

	const struct kept_file *dump = find_jit_file(sources, source, "jit-*.dump");

	if (dump)
		add_source(source,
			   symbolizer_open_jitdump(symbolizer, name, dump->data, dump->len));
	if (map)
		add_source(source,
			   symbolizer_open_perf_map(symbolizer, name, map->data, map->len));
	if (!dump && !map)
		add_nameless(source, symbolizer, name);
	add_regions(sources, source);
}

static void open_kernel(struct module_sources *sources, struct module_source *source,
			struct symbolizer *symbolizer)
{
	(void)sources;
	add_nameless(source, symbolizer, "[kernel]");
}

static void open_interpreted(struct module_sources *sources, struct module_source *source,
			     struct symbolizer *symbolizer)
{
	(void)sources;
	add_nameless(source, symbolizer,
		     source->module.path ? source->module.path : "[unknown]");
}

static void (*const openers[])(struct module_sources *sources, struct module_source *source,
			       struct symbolizer *symbolizer) = {
	[MODULE_KIND_ELF] = open_elf,       [MODULE_KIND_VDSO] = open_vdso,
	[MODULE_KIND_JIT] = open_jit,       [MODULE_KIND_UNKNOWN] = open_jit,
	[MODULE_KIND_KERNEL] = open_kernel, [MODULE_KIND_INTERPRETED] = open_interpreted,
};

const struct module_source *module_sources_open(struct module_sources *sources, uint32_t id,
						struct symbolizer *symbolizer)
{
	struct module_source *source = find_module(sources, id);

	if (!source)
		return NULL;
	if (source->source_count == 0) {
		size_t kind = (size_t)source->module.kind;

		if (kind >= sizeof openers / sizeof *openers)
			kind = MODULE_KIND_UNKNOWN;
		openers[kind](sources, source, symbolizer);
	}
	return source;
}
