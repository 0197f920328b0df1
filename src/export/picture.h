/*
 * picture - draws a flame graph as an SVG image: boxes with names, callers on top, details as
 * tooltips, a legend above. No script; the caller provides colours and texts.
 *
 * Draws any call tree: that of a profile (svg.c), or one of differences, coloured by change.
 * Inside export/ only.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct calltree_node;
struct error;
struct sink;
struct text;

struct picture_legend {
	const char *name;
	uint32_t color; /* 0xRRGGBB */
};

/* Strings may contain anything: they are escaped on output. */
struct picture {
	const char *title; /* one line each, cut to the width */
	const char *facts;
	/* In pre-order; widths are by total_ns: boxes_lay_out(). */
	const struct calltree_node *nodes;
	size_t node_count;
	/* 0xRRGGBB of a node; node 0 is the root. */
	uint32_t (*color)(const void *context, uint32_t node);
	/*
	 * Adds the node's name, shortened to about so many columns: if it is longer, it is cut.
	 */
	void (*add_label)(const void *context, uint32_t node, size_t columns, struct text *out);
	/* Adds the tooltip: lines, of which the first is the full name. */
	void (*add_details)(const void *context, uint32_t node, struct text *out);
	const void *context;
	const struct picture_legend *legend;
	size_t legend_count;
};

/* The beginning of each file of picture_write(). */
#define PICTURE_MARK \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- A picture of fathom's -->"

/* 0, or a negative errno if the sink failed. */
int picture_write(const struct picture *picture, const struct sink *sink, struct error *err);
