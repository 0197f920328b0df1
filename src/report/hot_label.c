/* Makes the labels of hot paths' rows: functions, packages, chains of calls. */
#include "report/hot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/function_origin.h"
#include "profile/group.h"
#include "profile/group_waits.h"
#include "profile/import_name.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "report/hot_internal.h"
#include "report/selection.h"
#include "report/style.h"
#include "report/wait_text.h"

enum {
	/* A chain of calls in one row is shortened at its outer end to this width. */
	CHAIN_COLUMNS = 60,
	NAME_COLUMNS = 36,
	NARROW_NAME_COLUMNS = 26,
	NARROW = 100, /* terminals up to this width */
	/* Width of a row's figures and the gap after them. */
	FIGURE_COLUMNS = 26,
	/* A longer place is cut before names are. */
	PLACE_COLUMNS = 20,
	LABEL_LEAST = 20,
	/* Per cent of all time: programs that waited less for a CPU are not named. */
	PROGRAM_LEAST = 1,
};

#define NAMELESS "code without names"

static void add_package(struct text *out, const struct hot *hot, uint32_t package)
{
	text_add(out, packages_get(hot->packages, package)->name);
}

/* Without parameters: "f(…)" becomes "f". */
static void add_name(struct text *out, const struct hot *hot, const struct hot_node *node,
		     size_t columns)
{
	const char *name = hot_function(hot, node)->name;
	CLEANUP(text_done) struct text shorter = { 0 };
	static const char *const ends[] = { "(…)", "()" };

	if (hot->style->width == 0) {
		text_add(out, name);
		return;
	}
	short_name_add(&shorter, name, columns);
	for (size_t i = 0; i < 2; i++) {
		const size_t len = strlen(ends[i]);

		if (shorter.len > len &&
		    strcmp(shorter.data + shorter.len - len, ends[i]) == 0 &&
		    strcmp(text_string(&shorter), name) != 0) {
			text_add_bytes(out, shorter.data, shorter.len - len);
			return;
		}
	}
	text_add(out, text_string(&shorter));
}

/*
 * Forms for the packages between own functions: the first that leaves space for the name is
 * used.
 */
enum passed_form { WITH_FRAMES, WITH_PACKAGES, WITH_A_PACKAGE, WITH_DOTS, PASSED_FORMS };

static void add_passed(struct text *out, const struct hot *hot, const struct hot_node *node,
		       enum passed_form form)
{
	const size_t most = form == WITH_A_PACKAGE ? 1 : HOT_PASSED_MAX;

	if (form == WITH_DOTS) {
		text_add(out, "… → ");
		return;
	}
	text_add(out, "[");
	if (form == WITH_FRAMES)
		text_addf(out, "%u frame%s of ", node->passed_frames,
			  node->passed_frames == 1 ? "" : "s");
	for (size_t i = 0; i < most && node->passed[i]; i++) {
		text_add(out, i > 0 ? ", " : "");
		add_package(out, hot, node->passed[i]);
	}
	text_add(out, "] → ");
}

/* Adds "waits for Lock at app.py:13", "recvfrom(127.0.0.1:5432)", "sleep". */
static void add_wait(struct text *out, const struct hot *hot, struct function_id wait)
{
	const char *call = profile_get_function(hot->selection->profile, wait)->name;
	CLEANUP(text_done) struct text what = { 0 };

	text_add(out, wait_text_add(&what, call) ? "waits for " : "");
	text_add(out, text_string(&what));
}

/* Forms of a library function and what it waits for, the longest first: the first that fits is used. */
static const struct call_form {
	size_t name_columns; /* 0: only its package is named */
	bool has_verb,
		has_place; /* "waits for", and where a lock or a condition is waited for */
} call_forms[] = {
	{ NAME_COLUMNS, true, true },
	{ NARROW_NAME_COLUMNS, true, true },
	{ NARROW_NAME_COLUMNS, false, true },
	{ NARROW_NAME_COLUMNS, false, false },
	{ 0, false, false },
};

static void add_call_as(struct text *out, const struct hot *hot, const struct hot_node *node,
			const struct call_form *form)
{
	const char *call = profile_get_function(hot->selection->profile, node->wait)->name;
	CLEANUP(text_done) struct text what = { 0 };
	const bool has_object = wait_text_add(&what, call);
	const char *place = has_object ? strstr(text_string(&what), " at ") : NULL;

	if (form->name_columns > 0) {
		add_name(out, hot, node, form->name_columns);
		text_add(out, " ");
	}
	text_add(out, "[");
	add_package(out, hot, packages_of(hot->packages, node->function));
	text_add(out, has_object && form->has_verb ? "]: waits for " : "]: ");
	text_add_bytes(out, text_string(&what),
		       place && !form->has_place ? (size_t)(place - text_string(&what))
						 : what.len);
}

/* Adds what a library function waits for, or own code through the C library. */
static void add_call(struct text *out, const struct hot *hot, const struct hot_node *node,
		     size_t columns)
{
	CLEANUP(text_done) struct text whole = { 0 };

	if (!node->function.n) {
		add_wait(out, hot, node->wait);
		return;
	}
	for (size_t i = 0; i < sizeof call_forms / sizeof *call_forms; i++) {
		text_clear(&whole);
		add_call_as(&whole, hot, node, &call_forms[i]);
		if (hot->style->width == 0 || text_columns(text_string(&whole)) <= columns)
			break;
	}
	text_add(out, text_string(&whole));
}

bool hot_label_is_queue(const struct hot *hot, const struct hot_node *node)
{
	const struct function *function = node->function.n ? hot_function(hot, node) : NULL;

	return function && function->language == LANGUAGE_FATHOM &&
	       strcmp(function->name, "[waits for a CPU]") == 0;
}

static uint64_t queued_ns(const struct group *row)
{
	return row->waits ? row->waits->ns[THREAD_STATE_RUNNABLE] : 0;
}

static int compare_queued(const void *a, const void *b)
{
	const uint64_t first = queued_ns(a), second = queued_ns(b);

	return first != second ? (first > second ? -1 : 1) : 0;
}

/* Adds "waits for a CPU: cc1 57 %, as 5 %", the programs only if there are several. */
static void add_queue(struct text *out, const struct hot *hot, size_t columns)
{
	const struct selection *selection = hot->selection;
	struct groups groups;

	text_add(out, "waits for a CPU");
	groups_make(selection->profile, GROUP_BY_PROGRAM, selection->filter, &groups);
	qsort(groups.rows, groups.count, sizeof *groups.rows, compare_queued);
	for (size_t i = 0; i < groups.count && groups.count > 1; i++) {
		const double percent =
			number_percent(queued_ns(&groups.rows[i]), selection->ns);
		CLEANUP(text_done) struct text more = { 0 };

		text_addf(&more, "%s%s %.0f %%", i > 0 ? ", " : ": ", groups.rows[i].name,
			  percent);
		if (percent < PROGRAM_LEAST ||
		    text_columns(text_string(out)) + text_columns(text_string(&more)) > columns)
			break;
		text_add_printable(out, text_string(&more), more.len);
	}
	groups_done(&groups);
}

void hot_label_add_library(struct text *out, const struct hot *hot, const struct hot_node *node,
			   size_t columns)
{
	if (hot_label_is_queue(hot, node)) {
		add_queue(out, hot, columns);
		return;
	}
	if (node->wait.n) {
		add_call(out, hot, node, columns);
		return;
	}
	const struct function *function = hot_function(hot, node);
	const uint32_t package = packages_of(hot->packages, node->function);
	/* Module code is named by its file, as all of it is called "<module>". */
	const bool is_module = node->kind == HOT_IMPORT ||
			       (function->file && import_name_is_body(function->name));
	/* "[shorter than a sampling period]" is a package of its own. */
	const bool has_package = !is_module && *function->name != '[';
	const bool has_burner = node->burner && node->burner != package &&
				hot_has_percent(node->burner_ns, node->self_ns, 50);

	if (is_module)
		import_name_add(out, function->file ? function->file : function->name, 0);
	else if (packages_is_import(hot->packages, node->function))
		text_add(out, "import");
	else if (function_is_nameless(hot->selection->profile, function))
		text_add(out, NAMELESS);
	else
		add_name(out, hot, node, NAME_COLUMNS);
	if (has_package || has_burner)
		text_add(out, " [");
	if (has_package)
		add_package(out, hot, package);
	if (has_burner) {
		text_add(out, has_package ? ", mostly " : "mostly ");
		add_package(out, hot, node->burner);
	}
	if (has_package || has_burner)
		text_add(out, "]");
}

void hot_label_add_group(struct text *out, const struct hot_node *node)
{
	number_add_count(out, node->members);
	text_add(out, " functions");
}

const char *hot_label_behind_caller(const struct hot *hot, uint32_t node, uint32_t caller_node)
{
	const char *name = hot_function(hot, &hot->paths.nodes[node])->name;
	const char *caller = hot_function(hot, &hot->paths.nodes[caller_node])->name;
	static const char local[] = ".<locals>.", block[] = "block in ";
	const size_t len = strlen(caller);

	if (strncmp(name, caller, len) == 0 && strncmp(name + len, local, strlen(local)) == 0)
		return name + len + strlen(local);
	if (strncmp(name, block, strlen(block)) == 0 &&
	    strcmp(name + strlen(block), caller) == 0)
		return "block";
	return NULL;
}

void hot_label_add_own(struct text *out, const struct hot *hot, uint32_t node, size_t columns)
{
	const struct hot_node *at = &hot->paths.nodes[node];
	const size_t name = hot->style->width > NARROW ? NAME_COLUMNS : NARROW_NAME_COLUMNS;
	CLEANUP(text_done) struct text whole = { 0 };

	if (function_is_nameless(hot->selection->profile, hot_function(hot, at))) {
		text_add(out, NAMELESS " [");
		add_package(out, hot, packages_of(hot->packages, at->function));
		text_add(out, "]");
		return;
	}
	if (at->passed_frames == 0 || !hot_paths_own_above(&hot->paths, node)) {
		add_name(out, hot, at, name);
		return;
	}
	for (enum passed_form form = WITH_FRAMES; form < PASSED_FORMS; form++) {
		text_clear(&whole);
		add_passed(&whole, hot, at, form);
		add_name(&whole, hot, at, name);
		if (text_columns(text_string(&whole)) <= columns)
			break;
	}
	text_add(out, text_string(&whole));
}

static size_t columns_beside(const struct hot *hot, size_t taken)
{
	const size_t width = hot->style->width;

	if (width == 0)
		return CHAIN_COLUMNS;
	return width > taken + LABEL_LEAST ? width - taken : LABEL_LEAST;
}

size_t hot_label_columns(const struct hot *hot, unsigned int level)
{
	return columns_beside(hot, FIGURE_COLUMNS + (size_t)level * HOT_INDENT);
}

size_t hot_label_chain_columns(const struct hot *hot, unsigned int level)
{
	const size_t place =
		hot->place_columns < PLACE_COLUMNS ? hot->place_columns : PLACE_COLUMNS;
	const size_t columns =
		columns_beside(hot, FIGURE_COLUMNS + place + (size_t)level * HOT_INDENT);

	return columns < CHAIN_COLUMNS ? columns : CHAIN_COLUMNS;
}

/*
 * The name without its prefix: "[2 frames of flask] → handle" and "… → handle" become "handle".
 */
static const char *behind_passed(const char *name)
{
	const bool has_passed = *name == '[' || strncmp(name, "… → ", strlen("… → ")) == 0;
	const char *arrow = has_passed ? strstr(name, " → ") : NULL;

	return arrow ? arrow + strlen(" → ") : name;
}

void hot_label_join(struct text *out, struct text *names, size_t count, size_t columns)
{
	size_t first = count - 1;
	size_t taken = text_columns(text_string(&names[first]));

	for (; first > 0; first--) {
		const size_t dots = first > 1 ? text_columns("… → ") : 0;

		taken += text_columns(" → ") + text_columns(text_string(&names[first - 1]));
		if (taken + dots > columns)
			break;
	}
	text_add(out, first > 0 ? "… → " : "");
	for (size_t i = 0; i < count; i++) {
		const char *name = text_string(&names[i]);

		/*
		 * If outer names are left out, so are the packages that call the first
		 * remaining one.
		 */
		if (i == first && first > 0)
			name = behind_passed(name);
		if (i >= first) {
			text_add(out, i > first ? " → " : "");
			text_add(out, name);
		}
		text_done(&names[i]);
	}
}
