#include "cmocka_all.h"

#include <string.h>

#include "base/agent_path.h"
#include "profile/origin.h"

static void assert_found(struct origin_name found, const char *origin, const char *name)
{
	assert_string_equal(origin_word(found.origin), origin);
	assert_int_equal(found.length, strlen(name));
	assert_memory_equal(found.name, name, found.length);
}

static void assert_source(const char *path, const char *origin, const char *name)
{
	assert_found(origin_of_source(path), origin, name);
}

static void assert_module(const char *path, const char *origin, const char *name)
{
	assert_found(origin_of_module(path), origin, name);
}

static void python_files(void **state)
{
	(void)state;
	assert_source("/home/me/app.py", "own", "app.py");
	assert_source("app.py", "own", "app.py");
	assert_source("/srv/venv/lib/python3.11/site-packages/flask/app.py", "package",
		      "flask");
	assert_source("/srv/venv/lib/python3.11/site-packages/six.py", "package", "six");
	assert_source("/usr/lib/python3/dist-packages/yaml/reader.py", "package", "yaml");
	assert_source("/usr/lib/python3.11/json/encoder.py", "standard", "json");
	assert_source("/opt/py/lib/python3.13t/threading.py", "standard", "threading");
	assert_source("<frozen importlib._bootstrap>", "standard", "importlib");
	assert_source("<string>", "own", "<string>");
	assert_source("<__array_function__ internals>", "package", "numpy");
	assert_source("<attrs generated init a.B>", "standard", "<attrs generated init a.B>");
	assert_source("/home/python3/work/app.py", "own", "app.py");
	assert_source("/usr/bin/meson", "system", "meson");
	assert_source("/usr/local/bin/tool", "own", "tool");
}

static void ruby_files(void **state)
{
	(void)state;
	assert_source("/srv/app/shop.rb", "own", "shop.rb");
	assert_source("/var/lib/gems/3.1.0/gems/puma-5.6.5/lib/puma/server.rb", "package",
		      "puma");
	assert_source("/home/me/.rbenv/lib/ruby/gems/3.3.0/gems/ruby-prof-1.7.0/lib/x.rb",
		      "package", "ruby-prof");
	assert_source("/usr/lib/ruby/3.1.0/set.rb", "standard", "set");
	assert_source("/usr/lib/ruby/vendor_ruby/rack/handler.rb", "package", "rack");
	assert_source("/srv/gems/app.rb", "own", "app.rb");
	assert_source("<internal:kernel>", "standard", "<internal:kernel>");
	assert_source("<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/require.rb>",
		      "package", "rubygems");
	assert_source("-e", "own", "-e");
}

static void programs_and_libraries(void **state)
{
	(void)state;
	assert_module("/home/me/prog", "own", "prog");
	assert_module("/usr/lib/postgresql/15/bin/postgres", "system", "postgres");
	assert_module("/lib/x86_64-linux-gnu/libc.so.6", "system", "libc.so.6");
	assert_module("/home/me/fathom/libfathom-agent-record.so", "system",
		      "libfathom-agent-record.so");
	assert_true(path_is_agent("/home/me/fathom/libfathom-agent-trace.so"));
	assert_true(path_is_agent("/memfd:fathom-agent"));
	assert_false(path_is_agent("/home/libfathom-agent/app"));
	assert_module("/usr/local/lib/libmine.so", "own", "libmine.so");
	assert_module("/usr/bin/python3.11", "interpreter", "python3.11");
	assert_module("/opt/py/lib/libpython3.13t.so.1.0", "interpreter",
		      "libpython3.13t.so.1.0");
	assert_module("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", "interpreter",
		      "libruby-3.1.so.3.1");
	assert_module("/home/me/pythonic", "own", "pythonic");
	assert_module("/home/me/rubyfmt", "own", "rubyfmt");
	assert_module("/v/lib/python3.11/site-packages/numpy/core/_multiarray.cpython-311.so",
		      "package", "numpy");
	assert_module("/v/lib/python3.11/site-packages/numpy.libs/libopenblas.so", "package",
		      "numpy");
	assert_module("/v/lib/python3.11/site-packages/_yaml.cpython-311.so", "package",
		      "_yaml");
	assert_module("/usr/lib/python3.11/lib-dynload/_json.cpython-311.so", "standard",
		      "json");
	assert_module("/usr/lib/x86_64-linux-gnu/ruby/3.1.0/json/ext/parser.so", "standard",
		      "json");
	assert_module("[vdso]", "system", "[vdso]");
	assert_module("[kernel]", "system", "[kernel]");
}

static void sources_compiled_into_a_program(void **state)
{
	struct origin_name found;

	(void)state;
	assert_true(origin_of_compiled_source("/usr/include/c++/12/bits/stl_algo.h", &found));
	assert_found(found, "standard", "std");
	assert_true(origin_of_compiled_source("/usr/include/boost/asio.hpp", &found));
	assert_found(found, "system", "boost");
	assert_true(
		origin_of_compiled_source("/rustc/ab12/library/core/src/fmt/mod.rs", &found));
	assert_found(found, "standard", "core");
	assert_true(origin_of_compiled_source(
		"/home/me/.cargo/registry/src/index.crates.io-6f17/serde-1.0.188/src/de.rs",
		&found));
	assert_found(found, "package", "serde");
	assert_true(origin_of_compiled_source("/usr/lib/go-1.19/src/runtime/proc.go", &found));
	assert_found(found, "standard", "runtime");
	assert_true(origin_of_compiled_source("/home/me/go/pkg/mod/github.com/x/y@v1.2.0/z.go",
					      &found));
	assert_found(found, "package", "github.com/x/y");
	assert_false(origin_of_compiled_source("/home/me/src/main.c", &found));
	assert_false(origin_of_compiled_source("src/main.c", &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_files),
		cmocka_unit_test(ruby_files),
		cmocka_unit_test(programs_and_libraries),
		cmocka_unit_test(sources_compiled_into_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
