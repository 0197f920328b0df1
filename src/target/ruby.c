#include "ruby.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "elf_file.h"
#include "frame_entries.h"
#include "function_parts.h"
#include "layout_symbols.h"
#include "ruby_instructions.h"
#include "ruby_labels.h"
#include "ruby_objspace.h"
#include "ruby_offsets.h"
#include "ruby_symbols.h"
#include "ruby_version.h"

/* Defined in every version so far. */
#define TELLTALE "ruby_api_version"

struct ruby_image {
	struct ruby_layout layout; /* with the file's own addresses */
	struct ruby_version version;
	struct code_range waitpid; /* the function, in the file's own addresses */
	struct error why_not;      /* "": frames can be walked */
};

#define CLASS_SYMBOL(name, text) \
	{ "rb_c" #text, offsetof(struct ruby_layout, classes[RUBY_CLASS_##name]), false },
#define FUNCTION_SYMBOL(name)                                        \
	{ "rb_" #name, offsetof(struct ruby_layout, functions.name), \
	  true /* find_functions() looks */ },

static const struct layout_symbol symbols[] = {
	RUBY_CLASS_MAP(CLASS_SYMBOL) RUBY_FUNCTION_MAP(FUNCTION_SYMBOL){
		"ruby_current_vm_ptr", offsetof(struct ruby_layout, vm), true },
};

#define SYMBOLS (sizeof symbols / sizeof symbols[0])

/* The row for a version; NULL: there is none. */
struct row_choice {
	const struct ruby_row *row;
	bool is_newer;  /* newer than all releases that this row was verified with */
	bool has_moved; /* another row of the same minor version has different offsets */
};

static struct row_choice choose_row(uint32_t version)
{
	struct row_choice choice = { .row = NULL };

	for (size_t i = 0; i < sizeof ruby_rows / sizeof ruby_rows[0]; i++) {
		const struct ruby_row *row = &ruby_rows[i];

		if (row->major != RUBY_VERSION_MAJOR(version) ||
		    row->minor != RUBY_VERSION_MINOR(version) ||
		    row->first_patch > RUBY_VERSION_PATCH(version))
			continue;
		choice.has_moved = choice.row != NULL;
		if (!choice.row || choice.row->first_patch < row->first_patch)
			choice.row = row;
	}
	choice.is_newer = choice.row && RUBY_VERSION_PATCH(version) > choice.row->last_patch;
	return choice;
}

static int identify(struct ruby_image *image, struct elf_file *elf,
		    struct row_choice *out_choice, struct error *err)
{
	int rc = ruby_version_read(elf, &image->version, err);

	if (rc < 0)
		return rc;
	image->layout.version = image->version.number;
	if (!image->version.is_release)
		return error_set(err, -ENOTSUP,
				 "CRuby %s is a pre-release, whose layout may change",
				 image->version.text);
	*out_choice = choose_row(image->version.number);
	return out_choice->row ? 0
			       : error_set(err, -ENOTSUP, "CRuby %s is not known yet",
					   image->version.text);
}

static void use_row(struct ruby_layout *layout, const struct ruby_row *row)
{
	layout->class_ext_is_pointer = row->class_ext_is_pointer;
	layout->singleton_flag = row->singleton_flag;
	layout->first_line_is_value = row->first_line_is_value;
	layout->text_length_in_flags = row->text_length_in_flags;
	layout->nil = row->nil;
	layout->last_operator_id = row->last_operator_id;
	layout->offsets = row->offsets;
}

struct label {
	uint64_t address;
	u8 instruction;
};

static int compare_labels(const void *a, const void *b)
{
	const struct label *one = a, *other = b;

	return (one->address > other->address) - (one->address < other->address);
}

/* Labels with equal code cannot be distinguished: keeps what both do, or nothing. */
static void add_label(struct ruby_layout *layout, const struct label *label)
{
	const u32 place = (u32)(label->address - layout->core[0].start);
	const u32 count = layout->instruction_count;

	if (count > 0 && layout->labels[count - 1] == place) {
		if (layout->instructions[count - 1] != label->instruction)
			layout->instructions[count - 1] = RUBY_OPERATOR_NONE;
		return;
	}
	layout->labels[count] = place;
	layout->instructions[count] = label->instruction;
	layout->instruction_count++;
}

static int find_instructions(struct ruby_layout *layout, struct elf_file *elf,
			     const struct frame_entries *entries, const struct ruby_row *row,
			     struct error *err)
{
	struct label sorted[RUBY_MAX_INSTRUCTIONS];
	struct ruby_labels labels;
	u8 instructions[RUBY_MAX_INSTRUCTIONS];
	int rc = ruby_labels_find(elf, entries, &labels, err);

	if (rc < 0)
		return rc;
	rc = ruby_instructions_find(elf, row, labels.count, instructions, err);
	if (rc < 0)
		return rc;
	const struct elf_file_symbol core = { labels.core.start,
					      labels.core.end - labels.core.start };

	if (!function_parts_find(elf, entries, &core, layout->core))
		return error_set(err, -ENOTSUP, "the code of its instructions cannot be found");
	for (size_t i = 0; i < labels.count; i++)
		sorted[i] = (struct label){ labels.addresses[i], instructions[i] };
	qsort(sorted, labels.count, sizeof sorted[0], compare_labels);
	for (size_t i = 0; i < labels.count; i++)
		add_label(layout, &sorted[i]);
	return ruby_loop_find(elf, entries, labels.core.start, layout->loop, err);
}

/* Functions that the agent calls; of the two ways to request a postponed job, one suffices. */
static int find_functions(const struct ruby_functions *functions, struct error *err)
{
	if (functions->postponed_job_register_one == 0 &&
	    (functions->postponed_job_preregister == 0 ||
	     functions->postponed_job_trigger == 0))
		return error_set(err, -ENOTSUP, "it has no postponed jobs");
	if (functions->add_event_hook == 0 || functions->profile_frames == 0 ||
	    functions->profile_frame_path == 0 || functions->profile_frame_label == 0 ||
	    functions->profile_frame_first_lineno == 0 || functions->id2name == 0)
		return error_set(err, -ENOTSUP, "it lacks functions that extensions may call");
	return 0;
}

static int find_context(struct ruby_layout *layout, struct elf_file *elf,
			const struct ruby_row *row, struct error *err)
{
	layout->context_means = row->context_means;
	if (row->context_means == RUBY_CONTEXT_BY_TLS)
		return ruby_context_find(elf, row, &layout->context, err);
	return layout->vm != 0
		       ? 0
		       : error_set(err, -ENOTSUP, "it has no symbol ruby_current_vm_ptr");
}

static int find_addresses(struct ruby_layout *layout, struct elf_file *elf,
			  const struct ruby_row *row, struct error *err)
{
	CLEANUP(frame_entries_done) struct frame_entries entries;
	const char *missing = layout_symbols_find(symbols, SYMBOLS, elf, layout);
	int rc;

	frame_entries_read(elf, &entries);
	if (missing)
		return error_set(err, -ENOTSUP, "it has no symbol %s", missing);
	rc = find_functions(&layout->functions, err);
	if (rc == 0)
		rc = find_context(layout, elf, row, err);
	if (rc == 0)
		rc = find_instructions(layout, elf, &entries, row, err);
	if (rc == 0)
		rc = ruby_symbols_find(elf, &entries, row, &layout->symbols, err);
	return rc;
}

/*
 * Offsets that patch releases are known to move are read from the file's code. If that fails, a
 * release that was not verified cannot be treated like an older one.
 */
static int find_what_moves(struct ruby_layout *layout, const struct elf_file *elf,
			   const struct row_choice *choice, const char *version,
			   struct error *err)
{
	if (ruby_objspace_find(elf, &layout->offsets) || !choice->is_newer ||
	    !choice->has_moved)
		return 0;
	return error_set(err, -ENOTSUP, "CRuby %s is not known yet", version);
}

static struct code_range find_function(const struct elf_file *elf, const char *name)
{
	struct elf_file_symbol symbol;

	return elf_file_find(elf, name, &symbol)
		       ? (struct code_range){ symbol.address, symbol.address + symbol.size }
		       : (struct code_range){ 0 };
}

/* Fills the layout; if it is refused, only the version remains. */
static void read_layout(struct ruby_image *image, struct elf_file *elf)
{
	struct ruby_layout *layout = &image->layout;
	struct error *err = &image->why_not;
	struct row_choice choice = { .row = NULL };
	int rc = identify(image, elf, &choice, err);

	if (rc < 0)
		return;
	use_row(layout, choice.row);
	rc = find_what_moves(layout, elf, &choice, image->version.text, err);
	if (rc == 0)
		rc = find_addresses(layout, elf, choice.row, err);
	if (rc < 0)
		*layout = (struct ruby_layout){ .version = layout->version };
	else
		layout->is_known = 1;
	image->waitpid = find_function(elf, "rb_waitpid");
}

int ruby_image_read(const char *path, struct ruby_image **out_image, struct error *err)
{
	CLEANUP(elf_file_close) struct elf_file elf;
	int rc = elf_file_open(path, &elf, err);

	if (rc < 0)
		return rc;
	if (!elf_file_has(&elf, TELLTALE))
		return -ENOENT;

	struct ruby_image *image = xzalloc(sizeof *image);

	read_layout(image, &elf);
	*out_image = image;
	return 0;
}

void ruby_image_free(struct ruby_image *image)
{
	free(image);
}

const char *ruby_image_version(const struct ruby_image *image)
{
	return image->version.text;
}

const char *ruby_image_why_not(const struct ruby_image *image)
{
	return image->why_not.text[0] != '\0' ? image->why_not.text : NULL;
}

void ruby_image_layout(const struct ruby_image *image, uint64_t load_bias,
		       struct ruby_layout *out_layout)
{
	*out_layout = image->layout;
	if (!out_layout->is_known)
		return;
	out_layout->load_bias = load_bias;
	layout_ranges_move(out_layout->loop, load_bias);
	layout_ranges_move(out_layout->core, load_bias);
	layout_symbols_move(symbols, SYMBOLS, load_bias, out_layout);
	layout_variable_move(&out_layout->context, load_bias);
	out_layout->symbols += load_bias;
}

struct code_range ruby_image_waitpid(const struct ruby_image *image, uint64_t load_bias)
{
	return (struct code_range){ image->waitpid.start + load_bias,
				    image->waitpid.end + load_bias };
}

void ruby_layout_use_copies(struct ruby_layout *layout, const char *path, uint64_t load_bias)
{
	if (layout->is_known)
		layout_symbols_use_copies(symbols, SYMBOLS, path, load_bias, layout);
}
