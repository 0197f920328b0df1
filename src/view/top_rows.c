#include "view/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/group_waits.h"
#include "profile/label.h"
#include "profile/profile.h"
#include "report/places.h"

static const char *keep(struct top_rows *top, const struct text *text)
{
	return text->len == 0
		       ? ""
		       : intern_get(&top->strings,
				    intern_add(&top->strings, text->data, text->len), NULL);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The last column: the language, or the module of native code. */
static void add_kind(const struct profile *profile, const struct group *group, struct text *out)
{
	const struct function *function = profile_get_function(profile, group->function);
	const struct thread *thread = profile_get_thread(profile, group->thread);
	const struct module *module;
	const char *title;

	if (thread)
		text_addf(out, "tid %d", thread->tid);
	if (!function)
		return;
	title = language_title(function->language);
	module = profile_get_module(profile, function->module);
	if (title)
		text_add(out, title);
	else if (module)
		text_add_printable(out, base_name(module->path),
				   strlen(base_name(module->path)));
}

static void add_name(const struct profile *profile, const struct group *group, struct text *out)
{
	const struct process *process = profile_get_process(profile, group->process);
	CLEANUP(text_done) struct text label = { 0 };

	if (process && group->thread.n == 0) {
		label_add_process(&label, process);
		text_add_printable(out, text_string(&label), label.len);
		text_addf(out, " (%d)", process->pid);
		return;
	}
	if (group->module.n != 0 && group->function.n == 0)
		text_add_printable(out, base_name(group->name), strlen(base_name(group->name)));
	else
		text_add_printable(out, group->name, strlen(group->name));
}

/* A row's figures at the previous reading. */
static struct top_before *before_of(struct top_rows *top, const struct top_row *row)
{
	CLEANUP(text_done) struct text key = { 0 };

	text_addf(&key, "%s%c%s%c%s", row->name, 1, row->place, 1, row->kind);
	const uint32_t id = intern_add(&top->strings, key.data, key.len);

	if (id >= top->before_count) {
		const size_t count = 2 * (size_t)id + 64;

		top->before = xreallocarray(top->before, count, sizeof *top->before);
		memset(top->before + top->before_count, 0,
		       (count - top->before_count) * sizeof *top->before);
		top->before_count = count;
	}
	return &top->before[id];
}

/* Names may become known late, which moves time away from earlier rows: never negative. */
static uint64_t growth(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void add_row(struct top_rows *top, const struct profile *profile,
		    const struct group *group, unsigned int components)
{
	CLEANUP(text_done) struct text name = { 0 }, place = { 0 }, kind = { 0 }, shown = { 0 };
	struct top_row row = { .all = { group->cost.self_ns, group->cost.total_ns } };

	add_name(profile, group, &name);
	places_add(&place, group, components);
	text_add_printable(&shown, text_string(&place), place.len);
	add_kind(profile, group, &kind);
	row.name = keep(top, &name);
	row.place = keep(top, &shown);
	row.kind = keep(top, &kind);
	struct top_before *before = before_of(top, &row);

	row.last.self_ns = growth(row.all.self_ns, before->time.self_ns);
	row.last.total_ns = growth(row.all.total_ns, before->time.total_ns);
	before->time = row.all;
	for (int state = 0; group->waits && state < THREAD_STATE_COUNT; state++) {
		row.all_states[state] = group->waits->ns[state];
		row.last_states[state] = growth(row.all_states[state], before->states[state]);
		before->states[state] = row.all_states[state];
	}
	top->rows = array_grow(top->rows, top->count, &top->capacity, sizeof *top->rows);
	top->rows[top->count++] = row;
}

void top_rows_read(struct top_rows *top, const struct profile *profile)
{
	struct groups groups;
	unsigned int *components;

	groups_make(profile, top->by, NULL, &groups);
	components = places_components(groups.rows, groups.count);
	top->last_ns = growth(groups.ns, top->all_ns);
	top->all_ns = groups.ns;
	top->has_states = groups.waits != NULL;
	top->count = 0;
	for (size_t i = 0; i < groups.count; i++)
		add_row(top, profile, &groups.rows[i], components[i]);
	free(components);
	groups_done(&groups);
}

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : -(a > b);
}

/* By the chosen key, then the others, so that rows of equal time keep their order. */
static int compare(const struct top_row *a, const struct top_row *b, enum top_sort sort)
{
	const int by[] = {
		[TOP_SORT_SELF] = descending(a->last.self_ns, b->last.self_ns),
		[TOP_SORT_TOTAL] = descending(a->last.total_ns, b->last.total_ns),
		[TOP_SORT_SELF_ALL] = descending(a->all.self_ns, b->all.self_ns),
		[TOP_SORT_TOTAL_ALL] = descending(a->all.total_ns, b->all.total_ns),
	};

	if (by[sort] != 0)
		return by[sort];
	for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
		if (by[i] != 0)
			return by[i];
	}
	return strcmp(a->name, b->name);
}

static int compare_rows(const void *a, const void *b, void *sort)
{
	return compare(a, b, *(const enum top_sort *)sort);
}

void top_rows_sort(struct top_rows *top, enum top_sort sort)
{
	if (top->count > 0)
		qsort_r(top->rows, top->count, sizeof *top->rows, compare_rows, &sort);
}

void top_rows_done(struct top_rows *top)
{
	free(top->rows);
	free(top->before);
	intern_done(&top->strings);
	*top = (struct top_rows){ .by = top->by };
}
