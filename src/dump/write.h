/* write - writes a dump as text for people, and as JSON for scripts (docs/dump.md). */
#pragma once
#include <stdbool.h>

struct dump;
struct style;
struct text;

struct dump_options {
	bool has_native; /* show the interpreters' own frames, too */
};

void dump_write_text(const struct dump *dump, const struct dump_options *options,
		     const struct style *style, struct text *out);
/* Writes all frames, whatever the options. */
void dump_write_json(const struct dump *dump, struct text *out);
/* "sleeping", "running", …: a word for the state in /proc. */
const char *dump_state_word(char state);
