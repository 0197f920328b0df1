#include "dwarf_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "demangle.h"
#include "dwarf_unit.h"
#include "elf_image.h"

/* Limit for all units together; a browser has some millions. */
#define RANGES_MAX (32u << 20)

/* As demanglers name it, without its arguments and its number in a function. */
#define LAMBDA "{lambda}::operator()"

struct dwarf_info {
	Dwarf *dwarf;
	Dwarf *alt;
	struct intern *strings;
	struct dwarf_unit *units;
	size_t unit_count;
	size_t unit_capacity;
	struct range_map by_address; /* to numbers of units */
};

/* Skeleton units, whose entries are in a .dwo file, provide only lines. */
static bool is_code_unit(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

/* Reads the first entry of each unit. .debug_aranges would be faster, but is optional. */
static void find_units(struct dwarf_info *info)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header_len;
	size_t budget = RANGES_MAX;

	while (dwarf_nextcu(info->dwarf, offset, &next, &header_len, NULL, NULL, NULL) == 0) {
		struct dwarf_unit unit = { .end = next };
		Dwarf_Off first = offset + header_len;
		if (next <= offset)
			break;
		offset = next;
		if (!dwarf_offdie(info->dwarf, first, &unit.die) || !is_code_unit(&unit.die))
			continue;
		info->units = array_grow(info->units, info->unit_count, &info->unit_capacity,
					 sizeof unit);
		info->units[info->unit_count] = unit;
		/* If several units claim an address, the first one gets it. */
		uint32_t number = (uint32_t)info->unit_count++;
		dwarf_add_ranges(&info->by_address, &unit.die, UINT32_MAX - number, number,
				 &budget);
	}
	range_map_finish(&info->by_address);
}

struct dwarf_info *dwarf_info_new(const struct elf_image *image, const struct elf_image *alt,
				  struct intern *strings)
{
	Dwarf *dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);

	if (!dwarf)
		return NULL;
	struct dwarf_info *info = xzalloc(sizeof *info);
	info->dwarf = dwarf;
	info->strings = strings;
	if (alt)
		info->alt = dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL);
	if (info->alt)
		dwarf_setalt(dwarf, info->alt);
	find_units(info);
	return info;
}

void dwarf_info_free(struct dwarf_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->unit_count; i++)
		dwarf_unit_done(&info->units[i]);
	free(info->units);
	range_map_done(&info->by_address);
	dwarf_end(info->dwarf);
	dwarf_end(info->alt);
	free(info);
}

static const char *keep(struct dwarf_info *info, const char *string, size_t len)
{
	return intern_get(info->strings, intern_add(info->strings, string, len), NULL);
}

/* A file's path; a relative one is joined with the unit's compilation directory. */
static const char *keep_path(struct dwarf_info *info, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;

	if (!path)
		return NULL;
	if (*path != '/' && *path != '<') { /* but not <stdin>, <built-in> */
		const char *folder =
			dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
		if (folder) {
			CLEANUP(freep) char *joined = xasprintf("%s/%s", folder, path);
			return keep(info, joined, strlen(joined));
		}
	}
	return keep(info, path, strlen(path));
}

/* The path of a file by its number in the file table of the attribute's unit. */
static const char *file_of(struct dwarf_info *info, Dwarf_Attribute *attribute)
{
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Files *files;
	size_t count;
	Dwarf_Word number;

	if (!attribute || dwarf_formudata(attribute, &number) != 0 ||
	    !dwarf_cu_die(attribute->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	/* Before DWARF 5, numbers begin at 1. */
	if ((number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
	    number >= count)
		return NULL;
	return keep_path(info, &unit, dwarf_filesrc(files, number, NULL, NULL));
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word value;

	if (!attribute || dwarf_formudata(attribute, &value) != 0 || value > INT32_MAX)
		return 0;
	return (uint32_t)value;
}

/*
 * The mangled name, which is complete; else the name in the source. A linkage name that is not
 * mangled is a library's internal one ("__GI___libc_read").
 */
static const char *name_of(struct dwarf_info *info, Dwarf_Die *die, bool *out_is_mangled)
{
	static const unsigned kinds[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					  DW_AT_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, kinds[i], &attribute));
		*out_is_mangled = name && is_mangled_name(name);
		if (name && *name && (*out_is_mangled || kinds[i] == DW_AT_name))
			return keep(info, name, strlen(name));
	}
	return NULL;
}

/*
 * The type of a lambda, found through the "this" pointer of its operator(); false: not a
 * lambda.
 */
static bool closure_of(Dwarf_Die *operator, Dwarf_Die * out_type)
{
	enum { QUALIFIERS_MAX = 4 }; /* const pointer to const type */
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(operator, DW_AT_object_pointer, &attribute) ||
	    !dwarf_formref_die(&attribute, &type))
		return false;
	for (int i = 0; i < QUALIFIERS_MAX; i++) {
		if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, &type))
			return false;
		const int tag = dwarf_tag(&type);

		if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) {
			const char *name = dwarf_diename(&type);

			*out_type = type;
			return !name || strstr(name, "lambda");
		}
	}
	return false;
}

/* gcc gives no position for a lambda's operator(), but for the lambda. */
static void describe_lambda(struct dwarf_info *info, Dwarf_Die *operator,
			    struct dwarf_frame * frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (!frame->name || strcmp(frame->name, "operator()") != 0 ||
	    !closure_of(operator, & type))
		return;
	frame->name = keep(info, LAMBDA, strlen(LAMBDA));
	if (frame->line > 0)
		return;
	frame->file = file_of(info, dwarf_attr(&type, DW_AT_decl_file, &attribute));
	frame->line = number_of(dwarf_attr(&type, DW_AT_decl_line, &attribute));
}

static void describe_scope(struct dwarf_info *info, struct dwarf_scope *scope,
			   struct dwarf_frame *frame)
{
	Dwarf_Attribute attribute;

	frame->is_inlined = scope->is_inlined;
	frame->name = name_of(info, &scope->die, &frame->is_mangled);
	frame->file =
		file_of(info, dwarf_attr_integrate(&scope->die, DW_AT_decl_file, &attribute));
	frame->line = number_of(dwarf_attr_integrate(&scope->die, DW_AT_decl_line, &attribute));
	describe_lambda(info, &scope->die, frame);
}

static void describe_line(struct dwarf_info *info, struct dwarf_unit *unit, uint64_t address,
			  struct dwarf_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number;

	if (!line)
		return;
	frame->line_file = keep_path(info, &unit->die, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line_number = (uint32_t)number;
}

/* Fills a frame for each scope from number outwards; the first one's line is already known. */
static size_t describe_scopes(struct dwarf_info *info, struct dwarf_unit *unit, uint32_t number,
			      struct dwarf_frame *frames)
{
	Dwarf_Attribute attribute;
	size_t count = 0;

	for (;;) {
		struct dwarf_scope *scope = &unit->scopes[number];
		describe_scope(info, scope, &frames[count]);
		if (!scope->is_inlined || scope->parent == DWARF_NO_PARENT)
			return count + 1;
		number = scope->parent; /* always below number, as parents are recorded first */
		if (count + 1 < DWARF_FRAMES_MAX)
			count++;
		frames[count] = (struct dwarf_frame){
			.line_file = file_of(
				info, dwarf_attr(&scope->die, DW_AT_call_file, &attribute)),
			.line_number =
				number_of(dwarf_attr(&scope->die, DW_AT_call_line, &attribute)),
		};
	}
}

size_t dwarf_info_look_up(struct dwarf_info *info, uint64_t address,
			  struct dwarf_frame frames[DWARF_FRAMES_MAX])
{
	uint32_t number;

	if (!range_map_find(&info->by_address, address, &number))
		return 0;
	struct dwarf_unit *unit = &info->units[number];
	frames[0] = (struct dwarf_frame){ 0 };
	describe_line(info, unit, address, &frames[0]);
	dwarf_unit_read(unit);
	if (range_map_find(&unit->by_address, address, &number))
		return describe_scopes(info, unit, number, frames);
	return frames[0].line_file ? 1 : 0;
}

bool dwarf_info_find_line(struct dwarf_info *info, uint64_t address, const char **out_file,
			  uint32_t *out_line)
{
	struct dwarf_frame frame = { 0 };
	uint32_t number;

	if (!range_map_find(&info->by_address, address, &number))
		return false;
	describe_line(info, &info->units[number], address, &frame);
	if (!frame.line_file)
		return false;
	*out_file = frame.line_file;
	*out_line = frame.line_number;
	return true;
}
