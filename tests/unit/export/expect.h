/*
 * expect - what an exporter writes for a profile made by hand, in memory.
 */
#pragma once
#include "base/text.h"

struct profile;

/* The export of the handmade profile of that name.  text_done() */
struct text export_of(const char *profile, const char *format);
/* Fails the test, showing both, unless the text is as expected. */
void assert_export(const char *profile, const char *format, const char *expected);
