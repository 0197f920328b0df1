/*
 * style - what a report may use of the terminal: its width and its colours.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text;

struct style {
	unsigned int width; /* in columns; 0: nothing is cut */
	bool has_color;
};

enum tint {
	TINT_NONE,
	TINT_BOLD,
	TINT_DIM,
	TINT_HOT,  /* a large share of the time */
	TINT_WARM, /* a share worth a look */
	TINT_COUNT,
};

/* The tint of a share of the time. */
enum tint style_tint_of(double percent);
/* Adds the string between the tint's escapes, or bare when there are no colours. */
void style_add(struct text *out, const struct style *style, enum tint tint, const char *string);
/* Where running text breaks. */
unsigned int style_wrap_width(const struct style *style);
/* The sentence broken at spaces; each line but the first begins with indent spaces. */
void style_add_wrapped(struct text *out, const struct style *style, unsigned int indent,
		       const char *sentence);
/* The string with its middle cut out, so that it takes at most this many terminal columns. */
void style_add_cut(struct text *out, const char *string, size_t columns);
/* The same for a function's name, which is made shorter first: short_name.h. */
void style_add_cut_name(struct text *out, const char *name, size_t columns);
/*
 * The same for a name and, in brackets behind it, where it is from, which is cut first: "json.dumps
 * [json, mostly _js…".
 */
void style_add_cut_label(struct text *out, const char *label, size_t columns);
/* A function in a sentence: its name made short where there is a width. */
void style_add_function(struct text *out, const struct style *style, const char *name);
/* The string with its end cut off. */
void style_add_cut_end(struct text *out, const char *string, size_t columns);
