#include "cmocka_all.h"

#include <string.h>

#include "base/text.h"
#include "profile/import_name.h"

static void assert_name_below(const char *root, const char *file, const char *name)
{
	struct text text = { 0 };

	import_name_add(&text, file, strlen(root));
	assert_string_equal(text_string(&text), name);
	text_done(&text);
}

static void assert_name(const char *file, const char *name)
{
	assert_name_below("", file, name);
}

static void packages_that_are_not_installed_have_names_below_their_root(void **state)
{
	(void)state;
	assert_name_below("/srv/", "/srv/shop/orders/__init__.py", "import shop.orders");
	assert_name_below("/srv/", "/srv/shop/jobs.py", "import shop.jobs");
	assert_name_below("/v/lib/python3.11/site-packages/flask/",
			  "/v/lib/python3.11/site-packages/flask/app.py", "import flask.app");
}

static void python_modules_are_imported(void **state)
{
	(void)state;
	assert_name("/v/lib/python3.11/site-packages/flask/app.py", "import flask.app");
	assert_name("/v/lib/python3.11/site-packages/flask/__init__.py", "import flask");
	assert_name("/usr/lib/python3.11/json/decoder.py", "import json.decoder");
	assert_name("/srv/app/jobs.py", "import jobs");
}

static void ruby_files_are_required(void **state)
{
	(void)state;
	assert_name("/var/lib/gems/3.1.0/gems/sinatra-3.0.5/lib/sinatra/base.rb",
		    "require sinatra/base");
	assert_name("/usr/lib/ruby/vendor_ruby/rack/handler.rb", "require rack/handler");
	assert_name("/usr/lib/ruby/3.1.0/json/common.rb", "require json/common");
	assert_name("/srv/app/jobs.rb", "require jobs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_modules_are_imported),
		cmocka_unit_test(packages_that_are_not_installed_have_names_below_their_root),
		cmocka_unit_test(ruby_files_are_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
