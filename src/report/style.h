/* style - formats text for a terminal of some width, with or without colours. */
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

/* The tint for a share of the time, in per cent. */
enum tint style_tint_of(double percent);
/* Adds the string in the tint's colour escapes, or plain if there are no colours. */
void style_add(struct text *out, const struct style *style, enum tint tint, const char *string);
/* The column where running text is wrapped. */
unsigned int style_wrap_width(const struct style *style);
/* Adds the sentence wrapped at spaces; each line but the first is indented by indent spaces. */
void style_add_wrapped(struct text *out, const struct style *style, unsigned int indent,
		       const char *sentence);
/*
 * Adds the string with its middle replaced by an ellipsis, in at most this many terminal
 * columns.
 */
void style_add_cut(struct text *out, const char *string, size_t columns);
/* Likewise for a function's name, which is shortened first: short_name.h. */
void style_add_cut_name(struct text *out, const char *name, size_t columns);
/*
 * Likewise for a name followed by its origin in brackets, which is cut first: "json.dumps
 * [json, mostly _js…".
 */
void style_add_cut_label(struct text *out, const char *label, size_t columns);
/* Adds a function's name for a sentence: shortened if there is a width. */
void style_add_function(struct text *out, const struct style *style, const char *name);
/* Adds the string with its end cut off. */
void style_add_cut_end(struct text *out, const char *string, size_t columns);
