#include "cmocka_all.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "example.h"
#include "listing_made.h"
#include "report/report.h"

char listing_folder[] = "/tmp/fathom-listing-XXXXXX";
char listing_path[64];

const char listing_source[] =
	"import math\n"
	"\n"
	"class Worker(Thread):\n" /* 3: where run() begins, for this test */
	"    def run(self):\n"
	"\ttotal = 0\n"
	"\ttotal += math.sin(1)  # \x1b[31m\n"
	"        a = 1\n"
	"        b = 1\n"
	"        c = 1\n"
	"        d = 1\n"
	"        e = 1\n"
	"        return caf\xc3\xa9\n"
	"\n"
	"after = 1\n";

void listing_write(const char *content, time_t changed)
{
	FILE *file = fopen(listing_path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(
		utimensat(AT_FDCWD, listing_path,
			  (struct timespec[]){ { .tv_sec = changed }, { .tv_sec = changed } },
			  0),
		0);
}

char *listing_of(const struct report_options *options, const char *file)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	example_init_python(&made, file);
	if (report_text(made.profile, options, &text, &err) < 0)
		fail_msg("%s", err.text);
	const char *listing = strstr(text_string(&text), "Lines of ");

	assert_non_null(listing);
	char *copy = xstrdup(listing);

	text_done(&text);
	made_done(&made);
	return copy;
}

int listing_make_folder(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C.UTF-8");
	if (!mkdtemp(listing_folder))
		return -1;
	snprintf(listing_path, sizeof listing_path, "%s/worker.py", listing_folder);
	return 0;
}

int listing_remove_folder(void **state)
{
	(void)state;
	unlink(listing_path);
	return rmdir(listing_folder);
}
