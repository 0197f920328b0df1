/*
 * report_options - what a report is of, and how it looks.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/groups.h"

enum report_sort { REPORT_SORT_SELF, REPORT_SORT_TOTAL, REPORT_SORT_CALLS };

struct report_options {
	enum group_by by; /* which rows the table has */
	bool has_by;      /* it was asked for */
	enum report_sort sort;
	bool has_sort; /* it was asked for */
	/* Only this part of the profile: profile/filter.h. */
	const char *process, *thread, *module, *package, *state;
	bool has_extremes; /* of a trace: the shortest and the longest call in the table */
	bool has_tree;     /* the call tree; each of these four replaces the table */
	const char *callers, *callees; /* of this function, as profile/find.h understands it */
	const char *lines;             /* of this function, in its source */
	bool has_idle;                 /* a row for each idle thread: profile/idle.h */
	bool has_blame;                /* what made threads wait, in place of the table */
	bool has_min_percent;          /* else 0 in tables, 0.5 in trees */
	double min_percent;  /* rows below are not shown; in trees by total, else as sorted */
	size_t max_rows;     /* 0: 30 in tables, 60 in trees */
	unsigned int width;  /* of the terminal in columns: longer names are cut; 0: none is */
	unsigned int height; /* of the terminal in rows: a summary is to fit; 0: any */
	bool is_after_recording; /* the summary is what record ends with: its command is known */
	bool has_no_rest;        /* a table says nothing of rows that it leaves out */
	bool has_no_starts;      /* nor of [start-up] and its like, which the head has said */
	bool has_color;
	bool is_accuracy; /* of report_info_text(): confidence intervals, and nothing else */
	bool is_summary;  /* the first screen: summary.h; the fields above then do not matter */
	const char *own;  /* what is one's own code: profile/packages.h */
	bool is_all_own;
	/* The package that a file is of, the caller's to free; NULL: not known.  NULL: not asked. */
	char *(*package_of)(const char *path);
	const char *path; /* of the recording, for the commands that a summary ends with */
};

#define REPORT_ALL_ROWS SIZE_MAX
