/* blame - prints what made threads wait: a table, and both stacks of the heaviest pairs. */
#pragma once

struct json_writer;
struct report_options;
struct selection;
struct style;
struct text;

/* The profile must have been loaded with its blames. */
void blame_add(const struct selection *selection, const struct report_options *options,
	       const struct style *style, struct text *out);
/* Adds the members "blame" and "blame_unowned". */
void blame_add_json(struct json_writer *writer, const struct selection *selection);
