#include "export/picture.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/boxes.h"
#include "export/output.h"

#define WIDTH        1200 /* px, as all below */
#define MARGIN       10
#define ROW_HEIGHT   18
#define HEAD_HEIGHT  52 /* for title and facts */
#define NARROWEST    0.33
#define LABEL_INDENT 4
/*
 * Text has a fixed-width font, whose characters are 0.6 of its size wide on every system, so
 * that widths are known without measuring.
 */
#define FONT_SIZE  11
#define TITLE_SIZE 15
#define PATCH      10 /* the square before a name in the legend */

static size_t columns_in(double width, int font_size)
{
	const double columns = width / (0.6 * font_size);

	return columns < 0 ? 0 : (size_t)columns;
}

/* U+FFFE and U+FFFF are valid UTF-8 but not valid in XML. */
static bool is_no_xml(const char *at)
{
	return memcmp(at, "\xef\xbf", 2) == 0 && ((unsigned char)at[2] & 0xfe) == 0xbe;
}

/* Adds any bytes as text of an XML element: valid, escaped, without control characters. */
static void add_xml(struct text *out, const char *string)
{
	CLEANUP(text_done) struct text clean = { 0 };

	text_add_printable(&clean, string, strlen(string));
	for (const char *at = text_string(&clean); *at; at++) {
		if (*at == '&')
			text_add(out, "&amp;");
		else if (*at == '<')
			text_add(out, "&lt;");
		else if (*at == '>')
			text_add(out, "&gt;");
		else if (strlen(at) >= 3 && is_no_xml(at))
			text_add(out, "\xef\xbf\xbd"), at += 2;
		else
			text_add_bytes(out, at, 1);
	}
}

/* Likewise in at most so many columns: longer text ends in "…". */
static void add_cut(struct text *out, const char *string, size_t columns)
{
	CLEANUP(text_done) struct text cut = { 0 };

	text_add_printable(&cut, string, strlen(string));
	if (text_columns(text_string(&cut)) > columns) {
		do {
			cut.len = utf8_cut(cut.data, cut.len - 1);
			cut.data[cut.len] = '\0';
		} while (cut.len > 0 && text_columns(cut.data) + 1 > columns);
		if (cut.len > 0)
			text_add(&cut, "…");
	}
	add_xml(out, text_string(&cut));
}

static void add_text(struct text *out, double x, double y, const char *class,
		     const char *string, size_t columns)
{
	text_addf(out, "<text x=\"%.1f\" y=\"%.1f\"%s%s%s>", x, y, class ? " class=\"" : "",
		  class ? class : "", class ? "\"" : "");
	add_cut(out, string, columns);
	text_add(out, "</text>");
}

static void add_rect(struct text *out, double x, double y, double width, int height,
		     uint32_t color)
{
	text_addf(out,
		  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"#%06" PRIx32
		  "\"/>",
		  x, y, width, height, color);
}

static int legend_rows(const struct picture *picture)
{
	size_t left = MARGIN;
	int rows = picture->legend_count > 0;

	for (size_t i = 0; i < picture->legend_count; i++) {
		const size_t width = PATCH + 20 + text_columns(picture->legend[i].name) * 7;

		rows += left > MARGIN && left + width > WIDTH - MARGIN;
		left = (left > MARGIN && left + width > WIDTH - MARGIN ? MARGIN : left) + width;
	}
	return rows;
}

static void write_legend(struct output *output, const struct picture *picture, int y)
{
	size_t left = MARGIN;

	for (size_t i = 0; i < picture->legend_count; i++) {
		const struct picture_legend *entry = &picture->legend[i];
		const size_t width = PATCH + 20 + text_columns(entry->name) * 7;

		if (left > MARGIN && left + width > WIDTH - MARGIN) {
			left = MARGIN;
			y += ROW_HEIGHT;
		}
		add_rect(&output->buffer, (double)left, y, PATCH, PATCH, entry->color);
		add_text(&output->buffer, (double)left + PATCH + 5, y + PATCH - 1, NULL,
			 entry->name, columns_in(WIDTH - 2 * MARGIN, FONT_SIZE));
		text_add(&output->buffer, "\n");
		left += width;
	}
}

static void write_head(struct output *output, const struct picture *picture, int height)
{
	struct text *out = &output->buffer;

	text_addf(out,
		  PICTURE_MARK "\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
			       "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
		  WIDTH, height, WIDTH, height);
	add_xml(out, picture->title);
	text_addf(out,
		  "</title>\n<style>text{font:%dpx \"DejaVu Sans Mono\",\"Liberation "
		  "Mono\",Menlo,"
		  "monospace;fill:#1c1b1a;white-space:pre}.title{font-size:%dpx}"
		  ".facts{fill:#5f5d58}"
		  "g:hover>rect{stroke:#000}</style>\n"
		  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		  FONT_SIZE, TITLE_SIZE);
	add_text(out, MARGIN, 22, "title", picture->title,
		 columns_in(WIDTH - 2 * MARGIN, TITLE_SIZE));
	add_text(out, MARGIN, 40, "facts", picture->facts,
		 columns_in(WIDTH - 2 * MARGIN, FONT_SIZE));
	text_add(out, "\n");
}

static void write_box(struct output *output, const struct picture *picture,
		      const struct box *box, double y)
{
	CLEANUP(text_done) struct text said = { 0 };
	struct text *out = &output->buffer;
	const double x = MARGIN + box->left;
	const size_t columns = columns_in(box->width - 2 * LABEL_INDENT, FONT_SIZE);

	text_add(out, "<g><title>");
	picture->add_details(picture->context, box->node, &said);
	/* Line by line, because newlines would be escaped as control characters. */
	for (char *line = said.data, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		add_xml(out, line);
		text_add(out, end ? "\n" : "");
	}
	text_add(out, "</title>");
	/* Leaves a gap between neighbours, if there is space. */
	add_rect(out, x, y, box->width > 3 ? box->width - 1 : box->width, ROW_HEIGHT - 1,
		 picture->color(picture->context, box->node));
	if (columns >= 3) {
		text_clear(&said);
		picture->add_label(picture->context, box->node, columns, &said);
		add_text(out, x + LABEL_INDENT, y + 12.5, NULL, text_string(&said), columns);
	}
	text_add(out, "</g>\n");
	output_tick(output);
}

int picture_write(const struct picture *picture, const struct sink *sink, struct error *err)
{
	const int top = HEAD_HEIGHT + legend_rows(picture) * ROW_HEIGHT;
	struct output output = output_to(sink, err);
	struct boxes boxes;

	boxes_lay_out(&boxes, picture->nodes, picture->node_count, WIDTH - 2 * MARGIN,
		      NARROWEST);
	write_head(&output, picture, top + ((int)boxes.deepest + 1) * ROW_HEIGHT + MARGIN);
	write_legend(&output, picture, HEAD_HEIGHT);
	/* Callers are on top: a narrow and deep path extends below the rest. */
	for (size_t i = 0; i < boxes.count; i++)
		write_box(&output, picture, &boxes.items[i],
			  top + (int)boxes.items[i].depth * ROW_HEIGHT);
	text_add(&output.buffer, "</svg>\n");
	boxes_done(&boxes);
	return output_done(&output);
}
