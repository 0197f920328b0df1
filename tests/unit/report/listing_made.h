/*
 * listing_made - a source file, and what a report lists of it.
 */
#pragma once
#include <time.h>

struct report_options;

/* When example_init_python() was recorded, in seconds: for 0.1 s. */
#define LISTING_RECORDED 1763709132

/* A folder of the test's own, the source's path in it, and what the example's source says. */
extern char listing_folder[], listing_path[];
extern const char listing_source[];

/* For cmocka: before all tests, and behind them. */
int listing_make_folder(void **state);
int listing_remove_folder(void **state);
/* Writes the file anew; it was changed then, in seconds since 1970. */
void listing_write(const char *content, time_t changed);
/* The listing of example_init_python() with that file, behind its head; the caller's, to free. */
char *listing_of(const struct report_options *options, const char *file);
