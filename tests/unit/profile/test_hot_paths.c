#include "cmocka_all.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "made.h"
#include "profile/group.h"
#include "profile/hot_paths.h"
#include "profile/info.h"
#include "profile/packages.h"

#define FLASK    "%flask_full@/v/lib/python3.11/site-packages/flask/app.py:9"
#define WERKZEUG "%werkzeug_wsgi@/v/lib/python3.11/site-packages/werkzeug/wsgi.py:3"
#define JSON     "%dumps@/usr/lib/python3.11/json/__init__.py:183"
#define JSON_C   "/usr/lib/python3.11/lib-dynload/_json.cpython-311.so!encode"
#define LIBC     "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define MAIN     "%main@/srv/app.py:1"
#define IMPORT   "%_find_and_load@<frozen importlib._bootstrap>:1165"

static const char *name_of(const struct made *made, struct function_id id)
{
	const struct function *function = profile_get_function(made->profile, id);

	return function ? function->name : "-";
}

static void add_node(struct text *out, const struct made *made, const struct packages *packages,
		     const struct hot_paths *paths, uint32_t node, unsigned int level)
{
	static const char *const kinds[] = { "root",   "own",      "library",
					     "import", "nameless", "group" };
	const struct hot_node *at = &paths->nodes[node];

	if (node) {
		text_addf(out, "%*s%s %s", (int)level * 2, "", kinds[at->kind],
			  name_of(made, at->function));
		if (at->wait.n)
			text_addf(out, ": %s", name_of(made, at->wait));
		text_addf(out, " %lu/%lu", (unsigned long)at->self_ns,
			  (unsigned long)at->total_ns);
		if (at->members)
			text_addf(out, " of %u in %.*s", at->members, (int)at->common,
				  profile_get_function(made->profile, at->function)->file);
		if (at->burner && !at->wait.n)
			text_addf(out, " in %s %lu", packages_get(packages, at->burner)->name,
				  (unsigned long)at->burner_ns);
		for (size_t i = 0; i < HOT_PASSED_MAX && at->passed[i]; i++)
			text_addf(out, "%s%s", i ? "," : " by ",
				  packages_get(packages, at->passed[i])->name);
		text_addf(out, "\n");
	}
	for (uint32_t i = at->first_child; i; i = paths->nodes[i].next_sibling)
		add_node(out, made, packages, paths, i, node ? level + 1 : 0);
}

static void assert_paths(const struct made *made, const char *own, enum own_rule rule,
			 const char *expected)
{
	struct packages *packages =
		packages_new(made->profile, &(struct packages_options){ .own = own });
	struct hot_paths paths;
	struct text text = { 0 };

	assert_int_equal(packages_own_rule(packages), rule);
	hot_paths_make(made->profile, packages, NULL, &paths);
	add_node(&text, made, packages, &paths, 0, 0);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
	hot_paths_done(&paths);
	packages_free(packages);
}

static void setup(struct made *made)
{
	made_init(made);
	made_add(made, MAIN ";" FLASK ";" WERKZEUG ";" FLASK ";%handle@/srv/app.py:7", 10, 1);
	made_add(made, MAIN ";" FLASK ";" WERKZEUG ";" FLASK ";%handle@/srv/app.py:7;" JSON, 5,
		 1);
	made_add(made,
		 MAIN ";" FLASK ";" WERKZEUG ";" FLASK ";%handle@/srv/app.py:7;" JSON
		      ";" JSON_C,
		 30, 1);
	made_add(made, MAIN ";" FLASK ";" WERKZEUG, 8, 1);
	made_add(made, MAIN, 1, 1);
}

static void libraries_are_one_node_between_own_functions(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 1/54\n"
		     "  library flask_full 8/53 in werkzeug 8\n"
		     "    own handle 10/45 by flask,werkzeug\n"
		     "      library dumps 35/35 in json 35\n");
	made_done(&made);
}

static void what_is_own_can_be_named(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	assert_paths(&made, "nothing,site-packages/flask", OWN_ASKED,
		     "own flask_full 0/53\n"
		     "  library handle 45/45 in json 35\n"
		     "  library werkzeug_wsgi 8/8 in werkzeug 8\n"
		     "library main 1/1 in app.py 1\n");
	made_done(&made);
}

static void recursion_is_one_node(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/home/me/prog!main;/home/me/prog!even;/home/me/prog!odd", 1, 1);
	made_add(&made,
		 "/home/me/prog!main;/home/me/prog!even;/home/me/prog!odd;"
		 "/lib/libc.so.6!qsort;/home/me/prog!even;/home/me/prog!even",
		 10, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 0/11\n"
		     "  own even 10/11\n"
		     "    own odd 1/1\n"
		     "      library qsort 0/0\n");
	made_done(&made);
}

static void an_import_is_named_by_its_module(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, MAIN ";" IMPORT, 2, 1);
	made_add(&made,
		 MAIN ";" IMPORT
		      ";%<module>@/v/lib/python3.11/site-packages/flask/__init__.py:1;" IMPORT
		      ";%<module>@/usr/lib/python3.11/json/__init__.py:1",
		 7, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 0/9\n"
		     "  import <module> 7/7 in json 7\n"
		     "  library _find_and_load 2/2 in importlib 2\n");
	made_done(&made);
}

static void without_own_code_the_programs_stand_for_it(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made,
		 "/usr/bin/gzip!_start;/lib/libc.so.6!__libc_start_main;"
		 "/usr/bin/gzip!main;/usr/bin/gzip!deflate",
		 9, 1);
	made_add(&made, "/usr/bin/gzip!main;/lib/libc.so.6!read", 3, 1);
	assert_paths(&made, NULL, OWN_PROGRAMS,
		     "own main 0/12\n"
		     "  own deflate 9/9\n"
		     "  library read 3/3 in libc.so.6 3\n"
		     "library _start 0/0\n");
	made_done(&made);
}

static void installed_scripts_stand_for_own_code(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/usr/bin/python3.11!main;" FLASK ";" JSON, 9, 1);
	assert_paths(&made, NULL, OWN_INTERPRETED,
		     "own flask_full 0/9\n"
		     "  library dumps 9/9 in json 9\n"
		     "library main 0/0\n");
	made_done(&made);
}

static void of_an_interpreter_alone_the_standard_library_stands_for_own_code(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made,
		 "/usr/bin/python3.11!main;%serve@/usr/lib/python3.11/socketserver.py:216;" JSON
		 ";" JSON_C,
		 9, 1);
	made_add(&made,
		 "/usr/bin/python3.11!main;%serve@/usr/lib/python3.11/socketserver.py:216;"
		 "/lib/libc.so.6!poll",
		 3, 1);
	assert_paths(&made, NULL, OWN_STANDARD,
		     "own serve 0/12\n"
		     "  own dumps 0/9\n"
		     "    library encode 9/9 in json 9\n"
		     "  library poll 3/3 in libc.so.6 3\n"
		     "library main 0/0\n");
	made_done(&made);
}

static void standard_templates_in_own_programs_are_a_library(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made,
		 "/home/me/prog!rank(int);/home/me/prog!void std::__introsort_loop<int*>(int*);"
		 "/home/me/prog!less(int, int)",
		 5, 1);
	made_add(&made, "/home/me/prog!mystd::run(std::string)", 1, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own rank(int) 0/5\n"
		     "  library void std::__introsort_loop<int*>(int*) 0/5\n"
		     "    own less(int, int) 5/5 by std\n"
		     "own mystd::run(std::string) 1/1\n");
	made_done(&made);
}

static void assert_packages(const struct made *made, const char *expected)
{
	struct groups groups;
	struct text text = { 0 };

	groups_make(made->profile, GROUP_BY_PACKAGE, NULL, &groups);
	for (size_t i = 0; i < groups.count; i++)
		text_addf(&text, "%s %s %lu/%lu\n", groups.rows[i].name, groups.rows[i].origin,
			  (unsigned long)groups.rows[i].cost.self_ns,
			  (unsigned long)groups.rows[i].cost.total_ns);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
	groups_done(&groups);
}

static void packages_have_rows_and_imports_one(void **state)
{
	struct made made;

	(void)state;
	setup(&made);
	made_add(&made,
		 MAIN ";" IMPORT ";%<module>@/v/lib/python3.11/site-packages/flask/x.py:1", 7,
		 1);
	made_add(&made, MAIN ";" IMPORT ";%<module>@/srv/own.py:1", 2, 1);
	made_add(&made, MAIN ";%numpy.dot", 4, 1);
	made_add(&made, MAIN ";/v/lib/python3.11/site-packages/numpy/core/_m.so!dot", 2, 1);
	made_add(&made, MAIN ";%list.append", 1, 1);
	made_add(&made, "[exit]", 3, 0);
	assert_packages(&made, "json standard 35/35\n"
			       "[own code] own 13/70\n"
			       "werkzeug package 8/53\n"
			       "[imports] import 7/9\n"
			       "numpy package 6/6\n"
			       "[exit] fathom 3/3\n"
			       "Python's built-ins standard 1/1\n"
			       "flask package 0/53\n");
	made_done(&made);
}

static bool is_own(const struct made *made, const char *name)
{
	struct packages *packages =
		packages_new(made->profile, &(struct packages_options){ 0 });
	const bool found = packages_is_own(packages, made_function(made, name));

	packages_free(packages);
	return found;
}

static void code_of_a_string_is_of_what_runs_it(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "%site@/usr/lib/python3.11/site.py:1;%exec;%pth@<string>:1", 5, 1);
	made_add(&made, MAIN ";%made_by_exec@<string>:1", 5, 1);
	made_add(&made, "%command_line@<string>:2", 5, 1);
	assert_false(is_own(&made, "pth"));
	assert_true(is_own(&made, "made_by_exec"));
	assert_true(is_own(&made, "command_line"));
	made_done(&made);
}

static void a_librarys_c_that_calls_its_python_gives_it_no_name(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made,
		 MAIN ";/v/site-packages/numpy/core/_multiarray.so!dispatch;"
		      "%fft@/v/site-packages/numpy/fft/_pocketfft.py:9;"
		      "/v/site-packages/numpy/fft/_pocketfft.so!execute",
		 5, 1);
	made_add(&made, MAIN ";/v/site-packages/numpy/core/_multiarray.so!dispatch", 1, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 0/6\n"
		     "  library fft 5/5 in numpy 5\n"
		     "  library dispatch 1/1 in numpy 1\n");
	made_done(&made);
	made_init(&made);
	made_add(&made,
		 MAIN ";%public_api@<__array_function__ internals>:1;"
		      "%numpy.core._multiarray_umath.implement_array_function;"
		      "%rfft@/v/site-packages/numpy/fft/_pocketfft.py:9;"
		      "%numpy.fft.execute",
		 5, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 0/5\n"
		     "  library rfft 5/5 in numpy 5\n"
		     "  library public_api 0/0\n");
	made_done(&made);
}

/* A test runner that calls 40 tests, one of which takes long; all of them call the same function. */
static void light_functions_that_one_node_calls_are_one(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	for (int i = 0; i < 40; i++) {
		CLEANUP(text_done) struct text stack = { 0 };

		text_add(&stack, WERKZEUG ";%");
		text_addf(&stack, "test_%d@/srv/tests/unit/test_%d.py:9", i, i % 3);
		made_add(&made, text_string(&stack), 1, 1);
		text_add(&stack, ";" FLASK ";%compile@/srv/app.py:3");
		made_add(&made, text_string(&stack), 1, 1);
	}
	made_add(&made, WERKZEUG ";%test_long@/srv/tests/test_long.py:1", 20, 1);
	made_add(&made, WERKZEUG ";%test_long@/srv/tests/test_long.py:1;%compile@/srv/app.py:3",
		 1, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "group test_0 40/80 of 40 in /srv/tests/unit/\n"
		     "  library flask_full 0/40\n"
		     "    own compile 40/40 by flask\n"
		     "own test_long 20/21\n"
		     "  own compile 1/1\n"
		     "library werkzeug_wsgi 0/0\n");
	made_done(&made);
}

static void few_light_functions_are_not_merged(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, MAIN, 900, 1);
	for (int i = 0; i < 4; i++) {
		CLEANUP(text_done) struct text stack = { 0 };

		text_add(&stack, MAIN ";%");
		text_addf(&stack, "part_%d@/srv/app.py:9", i);
		made_add(&made, text_string(&stack), 25, 1);
	}
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 900/1000\n"
		     "  own part_0 25/25\n"
		     "  own part_1 25/25\n"
		     "  own part_2 25/25\n"
		     "  own part_3 25/25\n");
	made_done(&made);
}

#define RUNNER "%run@/v/lib/python3.11/site-packages/pytest/main.py:1"
#define HOOK   "%call@/v/lib/python3.11/site-packages/pluggy/hook.py:1"

/* Each hook is called by the same function, which would say nothing. */
static void what_runs_without_own_code_is_known_by_what_has_most_of_it(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made,
		 RUNNER ";" HOOK ";%collect@/v/lib/python3.11/site-packages/pytest/x.py:1;" HOOK
			";%list.append",
		 30, 1);
	made_add(&made,
		 RUNNER ";" HOOK ";%collect@/v/lib/python3.11/site-packages/pytest/x.py:1;" HOOK
			";%list.pop",
		 20, 1);
	made_add(&made,
		 RUNNER ";" HOOK ";%report@/v/lib/python3.11/site-packages/pytest/x.py:9", 40,
		 1);
	made_add(&made, RUNNER ";" HOOK ";%small@/v/lib/python3.11/site-packages/pytest/x.py:9",
		 5, 1);
	made_add(&made, RUNNER ";%main@/srv/app.py:1", 5, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "library report 40/40 in pytest 40\n"
		     "library list.append 30/30 in Python's built-ins 30\n"
		     "library list.pop 20/20 in Python's built-ins 20\n"
		     "library call 5/5 in pytest 5\n"
		     "own main 5/5\n");
	made_done(&made);
}

/* cc1 has names for what plugins may call. */
static void own_code_without_names_is_between_what_has_them(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/usr/bin/cc1!main;/usr/bin/cc1!cc1+0x10+1;/usr/bin/cc1!run_pass", 10,
		 1);
	made_add(&made, "/usr/bin/cc1!main;/usr/bin/cc1!cc1+0x20+1;/usr/bin/cc1!cc1+0x30+1", 7,
		 1);
	assert_paths(&made, NULL, OWN_PROGRAMS,
		     "own main 0/17\n"
		     "  nameless cc1+0x10 7/17 in cc1 7\n"
		     "    own run_pass 10/10 by cc1\n");
	made_done(&made);
}

static void what_code_without_names_calls_is_known_by_its_own(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/usr/bin/redis!main;/usr/bin/redis!redis+0x10+1;" LIBC "!write;&tcp",
		 10, 1);
	made_add(&made, "/usr/bin/redis!main;/usr/bin/redis!redis+0x10+1", 2, 1);
	assert_paths(&made, NULL, OWN_PROGRAMS,
		     "own main 0/12\n"
		     "  library write 10/10 in the kernel 10\n"
		     "  nameless redis+0x10 2/2 in redis 2\n");
	made_done(&made);
}

/* What a decorator puts around every function says nothing, and is on every path. */
static void functions_that_only_pass_calls_on_are_between(void **state)
{
	static const char *const callers[] = { "one", "two", "three" };
	static const char *const callees[] = { "cut", "flow", "push" };
	struct made made;

	(void)state;
	made_init(&made);
	for (int i = 0; i < 3; i++) {
		CLEANUP(freep)
		char *stack = xasprintf("%%%s@/me/t.py:1;%%call@/me/b.py:1;%%%s@/me/n.py:1;"
					"%%call@/me/b.py:1;%%work@/me/w.py:1",
					callers[i], callees[i]);

		made_add(&made, stack, 10, 1);
	}
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own one 0/10\n"
		     "  library call 0/10\n"
		     "    own cut 0/10 by b.py\n"
		     "      library call 0/10\n"
		     "        own work 10/10 by b.py\n"
		     "own two 0/10\n"
		     "  library call 0/10\n"
		     "    own flow 0/10 by b.py\n"
		     "      library call 0/10\n"
		     "        own work 10/10 by b.py\n"
		     "own three 0/10\n"
		     "  library call 0/10\n"
		     "    own push 0/10 by b.py\n"
		     "      library call 0/10\n"
		     "        own work 10/10 by b.py\n");
	made_done(&made);
}

/* The same, but it works itself; and what is called by few, as a server's dispatcher is. */
static void functions_that_work_or_have_few_callers_are_nodes(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "%one@/me/t.py:1;%call@/me/b.py:1;%cut@/me/n.py:1", 10, 1);
	made_add(&made, "%one@/me/t.py:1;%call@/me/b.py:1;%flow@/me/n.py:1", 10, 1);
	made_add(&made, "%one@/me/t.py:1;%call@/me/b.py:1;%push@/me/n.py:1", 10, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own one 0/30\n"
		     "  own call 0/30\n"
		     "    own cut 10/10\n"
		     "    own flow 10/10\n"
		     "    own push 10/10\n");
	made_add(&made, "%two@/me/t.py:1;%call@/me/b.py:1;%cut@/me/n.py:1;%call@/me/b.py:1", 20,
		 1);
	made_add(&made, "%three@/me/t.py:1;%call@/me/b.py:1;%cut@/me/n.py:1", 1, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own one 0/30\n"
		     "  own call 0/30\n"
		     "    own cut 10/10\n"
		     "    own flow 10/10\n"
		     "    own push 10/10\n"
		     "own two 0/20\n"
		     "  own call 20/20\n"
		     "    own cut 0/0\n"
		     "own three 0/1\n"
		     "  own call 0/1\n"
		     "    own cut 1/1\n");
	made_done(&made);
}

/* No address says anything: they are one node, and again one in what they call. */
static void a_program_without_names_is_one_node(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/usr/bin/git!git+0x10+1;/usr/bin/git!git+0x20+1", 7, 1);
	made_add(&made, "/usr/bin/git!git+0x10+1;/usr/bin/git!git+0x30+1;" LIBC "!qsort", 5, 1);
	made_add(&made, "/usr/bin/git!git+0x10+1;" LIBC "!qsort;/usr/bin/git!git+0x40+1", 3, 1);
	made_add(&made, "/usr/bin/git!git+0x10+1;/usr/bin/as!as+0x40+1;/usr/bin/git!git+0x20+1",
		 1, 1);
	made_add(&made, LIBC "!start_thread;/usr/bin/git!git+0x50+1", 2, 1);
	assert_paths(&made, NULL, OWN_PROGRAMS,
		     "own git+0x10 12/18\n"
		     "  library qsort 5/5 in libc.so.6 5\n"
		     "  own as+0x40 0/1\n"
		     "    own git+0x10 1/1\n"
		     "library start_thread 0/0\n");
	made_done(&made);
}

/* A server of the distribution's whose JIT has some of the time, without names. */
static void code_made_at_run_time_is_own_if_it_has_a_name(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "/usr/lib/postgresql/15/bin/postgres!run;[anon]![jit]", 5, 1);
	made_add(&made, "/usr/lib/postgresql/15/bin/postgres!run", 5, 1);
	assert_false(is_own(&made, "[jit]"));
	assert_true(is_own(&made, "run"));
	made_add(&made, "/usr/bin/node!main;[jit]!~handle /srv/app.js:3", 5, 1);
	assert_true(is_own(&made, "~handle /srv/app.js:3"));
	made_done(&made);
}

/* On the wall clock: what the C library's functions, and a lock's, are called says nothing of it. */
static void what_is_waited_for_is_a_node(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, MAIN, 10, 1);
	made_add(&made, MAIN ";" LIBC "!sem_wait;&futex(Lock at app.py:2)", 40, 4);
	made_add(&made, MAIN ";" LIBC "!sem_wait64;&futex(Lock at app.py:2)", 5, 1);
	made_add(&made, MAIN ";%_thread.lock.__enter__;&futex(Lock at app.py:2)", 3, 1);
	made_add(&made, MAIN ";" FLASK ";" LIBC "!recv;&recvfrom(10.0.0.7:80)", 30, 3);
	made_add(&made, MAIN ";" FLASK, 2, 1);
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 10/90\n"
		     "  library sem_wait 40/40 in the kernel 40\n"
		     "  library flask_full 32/32 in the kernel 30\n"
		     "  library sem_wait64 5/5 in the kernel 5\n"
		     "  library _thread.lock.__enter__ 3/3 in the kernel 3\n");
	profile_info(made.profile)->is_wall = true;
	assert_paths(&made, NULL, OWN_BY_PATH,
		     "own main 10/90\n"
		     "  library -: futex(Lock at app.py:2) 48/48\n"
		     "  library flask_full: recvfrom(10.0.0.7:80) 30/30\n"
		     "  library flask_full 2/2 in flask 2\n"
		     "  library sem_wait 0/0\n"
		     "  library sem_wait64 0/0\n"
		     "  library _thread.lock.__enter__ 0/0\n");
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(light_functions_that_one_node_calls_are_one),
		cmocka_unit_test(few_light_functions_are_not_merged),
		cmocka_unit_test(what_runs_without_own_code_is_known_by_what_has_most_of_it),
		cmocka_unit_test(own_code_without_names_is_between_what_has_them),
		cmocka_unit_test(what_code_without_names_calls_is_known_by_its_own),
		cmocka_unit_test(functions_that_only_pass_calls_on_are_between),
		cmocka_unit_test(functions_that_work_or_have_few_callers_are_nodes),
		cmocka_unit_test(a_program_without_names_is_one_node),
		cmocka_unit_test(a_librarys_c_that_calls_its_python_gives_it_no_name),
		cmocka_unit_test(code_made_at_run_time_is_own_if_it_has_a_name),
		cmocka_unit_test(libraries_are_one_node_between_own_functions),
		cmocka_unit_test(what_is_own_can_be_named),
		cmocka_unit_test(recursion_is_one_node),
		cmocka_unit_test(an_import_is_named_by_its_module),
		cmocka_unit_test(without_own_code_the_programs_stand_for_it),
		cmocka_unit_test(installed_scripts_stand_for_own_code),
		cmocka_unit_test(
			of_an_interpreter_alone_the_standard_library_stands_for_own_code),
		cmocka_unit_test(standard_templates_in_own_programs_are_a_library),
		cmocka_unit_test(code_of_a_string_is_of_what_runs_it),
		cmocka_unit_test(packages_have_rows_and_imports_one),
		cmocka_unit_test(what_is_waited_for_is_a_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
