/*
 * picture - a flame graph as an SVG image: boxes with their names, callers above,
 * what else is known of each as its tooltip, a legend on top.  No script; what it looks like is the caller's.
 *
 * picture_write() draws any call tree: that of a profile (svg.c), or one of differences, whose
 * colours are those of what changed.  Inside export/ only.
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

/* Strings may hold anything: they are escaped where they are written. */
struct picture {
	const char *title; /* one line each, cut to the width */
	const char *facts;
	/* In pre-order; the widths are those of total_ns: boxes_lay_out(). */
	const struct calltree_node *nodes;
	size_t node_count;
	/* 0xRRGGBB of a node; node 0 stands for everything. */
	uint32_t (*color)(const void *context, uint32_t node);
	/* Adds the node's name in so many columns, or somewhat more: it is cut then. */
	void (*add_label)(const void *context, uint32_t node, size_t columns, struct text *out);
	/* Adds the tooltip: lines, the first of which is the whole name. */
	void (*add_details)(const void *context, uint32_t node, struct text *out);
	const void *context;
	const struct picture_legend *legend;
	size_t legend_count;
};

/* What each file of picture_write() begins with. */
#define PICTURE_MARK \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- A picture of fathom's -->"

/* 0, or a negative errno when the sink failed. */
int picture_write(const struct picture *picture, const struct sink *sink, struct error *err);
