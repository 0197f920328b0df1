#include "load/resolve.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "load/load_options.h"
#include "load/made_code.h"
#include "load/modules.h"
#include "load/names.h"
#include "load/unread_lines.h"
#include "profile/profile.h"
#include "record/reader.h"
#include "symbol/symbolizer.h"

/* How many addresses are looked up between two calls of progress. */
#define PROGRESS_STEP 64

/* A frame without a name, or with one but without the lines it may have. */
struct open_frame {
	struct recording_frame row;
	size_t known; /* index + 1 of its location; 0: it has none */
};

struct resolver {
	struct names *names;
	struct symbolizer *symbolizer;
	struct module_sources sources;
	struct unread_lines unread;
	struct table nameless; /* process → addresses of made code without names */
	struct open_frame *frames;
	size_t frame_count, frame_capacity;
};

static int collect_frame(void *context, const struct recording_frame *row)
{
	struct resolver *resolver = context;
	size_t known = 0;

	const struct named_location *location =
		names_of_frame(resolver->names, row->id, &known);

	if (known > 0 && (known > 1 || !unread_lines_has(&resolver->unread, row->module)))
		return 0;
	resolver->frames = array_grow(resolver->frames, resolver->frame_count,
				      &resolver->frame_capacity, sizeof *resolver->frames);
	resolver->frames[resolver->frame_count++] = (struct open_frame){
		.row = *row,
		.known = known > 0 ? (size_t)(location - resolver->names->locations) + 1 : 0,
	};
	return 0;
}

/*
 * Neighbouring addresses share a compilation unit, which the symbolizer then has already read.
 */
static int compare_frames(const void *a, const void *b)
{
	const struct recording_frame *left = &((const struct open_frame *)a)->row;
	const struct recording_frame *right = &((const struct open_frame *)b)->row;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/* Context of add_location(), for one frame. */
struct found {
	struct names *names;
	const struct recording_frame *frame;
	uint32_t language;
	uint32_t depth;
	size_t first; /* index of the first location added */
	bool is_named, has_lines;
};

static void add_location(void *context, const struct symbol_location *location)
{
	struct found *found = context;
	uint32_t function =
		names_add_function(found->names, &(struct named_function){
							 .language = found->language,
							 .module = found->frame->module,
							 .name = location->name,
							 .file = location->file,
							 .line = location->line,
						 });

	found->is_named |= location->is_named;
	found->has_lines |= location->file != NULL || location->line_file != NULL;
	names_add_location(found->names, &(struct named_location){
						 .frame = found->frame->id,
						 .depth = found->depth++,
						 .function = function,
						 .line = location->line_number,
						 .file = location->line_file,
					 });
}

/* Tries the module's sources in turn until one has a name; false: none has. */
static bool look_up(struct names *names, const struct module_source *source,
		    const struct open_frame *open)
{
	const struct recording_frame *frame = &open->row;
	bool is_kernel = source->module.kind == MODULE_KIND_KERNEL;
	struct found found = {
		.names = names,
		.frame = frame,
		.language = is_kernel ? LANGUAGE_KERNEL : LANGUAGE_NATIVE,
		.first = names->location_count,
	};
	uint64_t address = 0;

	for (size_t i = 0; i < source->source_count && !found.is_named; i++) {
		names->location_count = found.first;
		found.depth = 0;
		symbol_module_look_up(source->sources[i], frame->address, add_location, &found,
				      &address);
	}
	for (size_t i = found.first; i < names->location_count; i++)
		names->locations[i].address = address;
	/* A known name stays, unless a debug file has lines for it. */
	if (open->known > 0 && found.is_named && found.has_lines)
		names_replace_location(names, open->known - 1, found.first);
	else if (open->known > 0)
		names->location_count = found.first;
	return open->known > 0 || found.is_named;
}

static int look_up_all(struct resolver *resolver, const struct load_options *options,
		       struct error *err)
{
	for (size_t i = 0; i < resolver->frame_count; i++) {
		const struct open_frame *frame = &resolver->frames[i];
		const struct module_source *source = module_sources_open(
			&resolver->sources, frame->row.module, resolver->symbolizer);

		if (!source)
			return error_set(err, -EBADMSG,
					 "the recording is damaged: frame %u is in module %u, "
					 "which is not there",
					 frame->row.id, frame->row.module);
		if (!look_up(resolver->names, source, frame) &&
		    source->module.kind == MODULE_KIND_JIT)
			++*table_at(&resolver->nameless, 0, source->process, NULL);
		if (options->progress && i % PROGRESS_STEP == 0)
			options->progress(options->context, i, resolver->frame_count);
	}
	if (options->progress && resolver->frame_count)
		options->progress(options->context, resolver->frame_count,
				  resolver->frame_count);
	return 0;
}

int resolve_names(struct recording_reader *reader, const struct load_options *options,
		  struct notes *notes, struct names *names, struct error *err)
{
	struct resolver resolver = { .names = names };

	names_sort(names);
	unread_lines_read(&resolver.unread, reader);
	int rc = recording_reader_each_frame(reader, collect_frame, &resolver, err);

	if (rc == 0 && resolver.frame_count)
		rc = module_sources_read(&resolver.sources, reader, err);
	if (rc == 0 && resolver.frame_count) {
		qsort(resolver.frames, resolver.frame_count, sizeof *resolver.frames,
		      compare_frames);
		resolver.symbolizer = symbolizer_new(notes);
		if (!options->asks_no_servers)
			symbolizer_ask_servers(resolver.symbolizer, options->progress,
					       options->context);
		if (options->leaves_lines)
			symbolizer_leave_installed_lines(resolver.symbolizer);
		rc = look_up_all(&resolver, options, err);
		if (rc == 0)
			rc = made_code_note(reader, &resolver.nameless, notes, err);
		names->unread_lines = unread_lines_of(&resolver.sources);
		symbolizer_free(resolver.symbolizer);
	}
	module_sources_done(&resolver.sources);
	unread_lines_done(&resolver.unread);
	table_done(&resolver.nameless);
	free(resolver.frames);
	names_sort(names);
	return rc;
}
