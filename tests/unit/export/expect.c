#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "expect.h"
#include "export/export.h"
#include "export/sink.h"
#include "handmade.h"
#include "profile/profile.h"

struct text export_of(const char *profile_name, const char *format)
{
	struct text text = { 0 };
	struct error err;
	struct sink sink = sink_to_text(&text);
	CLEANUP(profile_freep) struct profile *profile = handmade_profile(profile_name);
	const struct exporter *exporter = exporter_find(format);

	assert_non_null(profile);
	assert_non_null(exporter);
	assert_int_equal(exporter->write(profile, &sink, &err), 0);
	return text;
}

void assert_export(const char *profile, const char *format, const char *expected)
{
	CLEANUP(text_done) struct text text = export_of(profile, format);

	assert_string_equal(text_string(&text), expected);
}
