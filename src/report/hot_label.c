/* What the rows of hot paths are called: functions, packages, chains of calls. */
#include "report/hot.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/import_name.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "profile/short_name.h"
#include "report/hot_internal.h"
#include "report/selection.h"
#include "report/style.h"
#include "report/wait_text.h"

enum {
	/* A chain of calls in one row is cut from its outer end to so many columns. */
	CHAIN_COLUMNS = 60,
	NAME_COLUMNS = 36,
	NARROW_NAME_COLUMNS = 24,
	NARROW = 100, /* terminals of up to so many columns */
	/* What the other columns of a row take of the terminal's. */
	OTHER_COLUMNS = 42,
};

static void add_package(struct text *out, const struct hot *hot, uint32_t package)
{
	text_add(out, packages_get(hot->packages, package)->name);
}

static void add_name(struct text *out, const struct hot *hot, const struct hot_node *node)
{
	const char *name = hot_function(hot, node)->name;

	if (hot->style->width > 0)
		short_name_add(out, name,
			       hot->style->width > NARROW ? NAME_COLUMNS : NARROW_NAME_COLUMNS);
	else
		text_add(out, name);
}

static void add_passed(struct text *out, const struct hot *hot, const struct hot_node *node,
		       bool has_packages)
{
	text_addf(out, "[%u frame%s", node->passed_frames, node->passed_frames == 1 ? "" : "s");
	for (size_t i = 0; has_packages && i < HOT_PASSED_MAX && node->passed[i]; i++) {
		text_add(out, i > 0 ? ", " : " of ");
		add_package(out, hot, node->passed[i]);
	}
	text_add(out, "] → ");
}

/* "waits for Lock at app.py:13", "recvfrom(127.0.0.1:5432)", "sleep". */
static void add_wait(struct text *out, const struct hot *hot, struct function_id wait)
{
	const char *call = profile_get_function(hot->selection->profile, wait)->name;
	CLEANUP(text_done) struct text what = { 0 };

	text_add(out, wait_text_add(&what, call) ? "waits for " : "");
	text_add(out, text_string(&what));
}

/* What a library's function waits for, or one's own by way of the C library. */
static void add_call(struct text *out, const struct hot *hot, const struct hot_node *node)
{
	if (node->function.n) {
		add_name(out, hot, node);
		text_add(out, " [");
		add_package(out, hot, packages_of(hot->packages, node->function));
		text_add(out, "]: ");
	}
	add_wait(out, hot, node->wait);
}

void hot_label_add_library(struct text *out, const struct hot *hot, const struct hot_node *node)
{
	if (node->wait.n) {
		add_call(out, hot, node);
		return;
	}
	const struct function *function = hot_function(hot, node);
	const uint32_t package = packages_of(hot->packages, node->function);

	const bool has_burner = node->burner && node->burner != package &&
				hot_has_percent(node->burner_ns, node->self_ns, 50);

	if (node->kind == HOT_IMPORT)
		import_name_add(out, function->file ? function->file : function->name);
	else if (packages_is_import(hot->packages, node->function))
		text_add(out, "import");
	else
		add_name(out, hot, node);
	/* "[shorter than a sampling period]" is a package of its own. */
	const bool has_package = node->kind == HOT_LIBRARY && *function->name != '[';

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

void hot_label_add_own(struct text *out, const struct hot *hot, uint32_t node, size_t columns)
{
	const struct hot_node *at = &hot->paths.nodes[node];
	CLEANUP(text_done) struct text whole = { 0 };

	if (at->passed_frames > 0 && hot_row_above(&hot->paths, node)) {
		add_passed(&whole, hot, at, true);
		add_name(&whole, hot, at);
		if (text_columns(text_string(&whole)) <= columns) {
			text_add(out, text_string(&whole));
			return;
		}
		add_passed(out, hot, at, false);
	}
	add_name(out, hot, at);
}

size_t hot_label_columns(const struct hot *hot, unsigned int level)
{
	const size_t taken = OTHER_COLUMNS + (size_t)level * HOT_INDENT;

	if (hot->style->width == 0 || hot->style->width > taken + CHAIN_COLUMNS)
		return CHAIN_COLUMNS;
	return hot->style->width > taken ? hot->style->width - taken : 1;
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
		if (i >= first) {
			text_add(out, i > first ? " → " : "");
			text_add(out, text_string(&names[i]));
		}
		text_done(&names[i]);
	}
}
