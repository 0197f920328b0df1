#include "cmocka_all.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

static void assert_body(const struct report_options *options, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	example_init(&made);
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	assert_string_equal(example_body_of(text_string(&text)), expected);
	text_done(&text);
	made_done(&made);
}

static void by_function_sorted_by_self(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ 0 },
		    "self %     ±  self time  total %     ±  total time  function              "
		    "          file:line             module\n"
		    "  37.4  ±1.4    1.900 s     37.4  ±1.4     1.900 s  write                 "
		    "          write.c:24            libc.so.6\n"
		    "  29.9  ±1.3    1.520 s     42.5  ±1.4     2.160 s  dictFind              "
		    "          dict.c:500            redis-server\n"
		    "  12.6  ±1.0    0.640 s     12.6  ±1.0     0.640 s  ~dictSdsKeyCompare    "
		    "          server.c:1280         redis-server\n"
		    "  10.4  ±0.9    0.530 s     10.4  ±0.9     0.530 s  _int_malloc           "
		    "          malloc.c:3795         libc.so.6\n"
		    "   5.5  ±0.7    0.280 s      5.5  ±0.7     0.280 s  cfree                 "
		    "          malloc.c:3350         libc.so.6\n"
		    "   2.0          0.100 s      2.0           0.100 s  [not entered: "
		    "busybox]          -                     -\n"
		    "   1.8  ±0.5    0.090 s     92.1  ±0.7     4.680 s  aeProcessEvents       "
		    "          ae.c:340              redis-server\n"
		    "   0.4          0.018 s      0.4           0.018 s  [start-up]            "
		    "          -                     -\n"
		    "   0.0          0.002 s      0.0           0.002 s  [exit]                "
		    "          -                     -\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  __libc_start_main     "
		    "          libc-start.c:242      libc.so.6\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  _start                "
		    "          -                     redis-server\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  aeMain                "
		    "          ae.c:490              redis-server\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  main                  "
		    "          server.c:6800         redis-server\n"
		    "   0.0          0.000 s     53.0  ±1.4     2.690 s  call                  "
		    "          server.c:3380         redis-server\n"
		    "   0.0          0.000 s     53.0  ±1.4     2.690 s  processCommand        "
		    "          server.c:3690         redis-server\n"
		    "   0.0          0.000 s     53.0  ±1.4     2.690 s  readQueryFromClient   "
		    "          networking.c:2590     redis-server\n"
		    "   0.0          0.000 s     37.4  ±1.4     1.900 s  "
		    "handleClientsWithPendingWrites  networking.c:1960     redis-server\n"
		    "   0.0          0.000 s     16.5  ±1.1     0.840 s  setCommand            "
		    "          t_string.c:280        redis-server\n"
		    "   0.0          0.000 s     10.4  ±0.9     0.530 s  malloc                "
		    "          malloc.c:3287         libc.so.6\n"
		    "   0.0          0.000 s      5.5  ±0.7     0.280 s  "
		    "bioProcessBackgroundJobs        bio.c:190             redis-server\n"
		    "   0.0          0.000 s      5.5  ±0.7     0.280 s  clone3                "
		    "          -                     libc.so.6\n"
		    "   0.0          0.000 s      5.5  ±0.7     0.280 s  start_thread          "
		    "          pthread_create.c:356  libc.so.6\n");
}

static void sorted_by_total_says_how_many_rows_are_left_out(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .sort = REPORT_SORT_TOTAL, .max_rows = 5 },
		    "self %     ±  self time  total %     ±  total time  function           "
		    "file:line         module\n"
		    "   1.8  ±0.5    0.090 s     92.1  ±0.7     4.680 s  aeProcessEvents    "
		    "ae.c:340          redis-server\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  __libc_start_main  "
		    "libc-start.c:242  libc.so.6\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  _start             -  "
		    "               redis-server\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  aeMain             "
		    "ae.c:490          redis-server\n"
		    "   0.0          0.000 s     92.1  ±0.7     4.680 s  main               "
		    "server.c:6800     redis-server\n"
		    "… 17 more functions, 98.2 % together (-n 0 shows all)\n");
}

static void a_line_is_the_one_that_was_run(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_LINE, .max_rows = 6 },
		    "self %     ±  self time  total %     ±  total time  function              "
		    "  file:line      module\n"
		    "  37.4  ±1.4    1.900 s     37.4  ±1.4     1.900 s  write                 "
		    "  write.c:26     libc.so.6\n"
		    "  29.9  ±1.3    1.520 s     29.9  ±1.3     1.520 s  dictFind              "
		    "  dict.c:510     redis-server\n"
		    "  12.6  ±1.0    0.640 s     12.6  ±1.0     0.640 s  ~dictSdsKeyCompare    "
		    "  server.c:1290  redis-server\n"
		    "  10.4  ±0.9    0.530 s     10.4  ±0.9     0.530 s  _int_malloc           "
		    "  malloc.c:3821  libc.so.6\n"
		    "   5.5  ±0.7    0.280 s      5.5  ±0.7     0.280 s  cfree                 "
		    "  malloc.c:3391  libc.so.6\n"
		    "   2.0          0.100 s      2.0           0.100 s  [not entered: "
		    "busybox]  -              -\n"
		    "… 18 more lines, 2.2 % together (-n 0 shows all)\n");
}

static void modules_stand_with_their_whole_path(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .by = GROUP_BY_MODULE },
		"self %     ±  self time  total %     ±  total time  module\n"
		"  53.3  ±1.4    2.710 s     97.6  ±0.1     4.960 s  "
		"/lib/x86_64-linux-gnu/libc.so.6\n"
		"  44.3  ±1.4    2.250 s     97.6  ±0.1     4.960 s  /usr/bin/redis-server\n"
		"   2.0          0.100 s      2.0           0.100 s  [not entered: busybox]\n"
		"   0.4          0.018 s      0.4           0.018 s  [start-up]\n"
		"   0.0          0.002 s      0.0           0.002 s  [exit]\n");
}

static void threads_stand_with_what_the_kernel_charged(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .by = GROUP_BY_THREAD },
		"time %     time  charged  samples   tid  thread          pid  process\n"
		"  92.5  4.700 s        -    4,680  4200  redis-server   4200  redis-server\n"
		"   5.5  0.280 s        -      280  4203  bio_lazy_free  4200  redis-server\n"
		"   2.0  0.100 s        -        0  4242  busybox        4242  busybox\n");
}

static void processes_stand_with_why_they_were_not_entered(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .by = GROUP_BY_PROCESS },
		"time %     time  charged  samples   pid  process       not entered because\n"
		"  98.0  4.980 s  5.002 s    4,960  4200  redis-server\n"
		"   2.0  0.100 s  0.100 s        0  4242  busybox       it is statically "
		"linked\n");
}

static void programs_stand_with_how_many_were_entered(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .by = GROUP_BY_PROGRAM },
		"time %     time  charged  samples  processes  entered  brief  program     "
		"  not entered because\n"
		"  98.0  4.980 s  5.002 s    4,960          1        1      0  redis-server\n"
		"   2.0  0.100 s  0.100 s        0          1        0      0  busybox     "
		"  it is statically linked\n");
}

static void with_a_thread_percentages_are_of_its_time(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .thread = "bio_lazy_free" },
		"Percentages are of 280.0 ms: thread bio_lazy_free (tid 4203), which is "
		"5.5 % of the 5.080 s\n"
		"recorded.\n"
		"\n"
		"self %      ±  self time  total %      ±  total time  function              "
		"    file:line             module\n"
		" 100.0  ≥98.6   280.0 ms    100.0  ≥98.6    280.0 ms  cfree                 "
		"    malloc.c:3350         libc.so.6\n"
		"   0.0            0.0 ms    100.0  ≥98.6    280.0 ms  "
		"bioProcessBackgroundJobs  bio.c:190             redis-server\n"
		"   0.0            0.0 ms    100.0  ≥98.6    280.0 ms  clone3                "
		"    -                     libc.so.6\n"
		"   0.0            0.0 ms    100.0  ≥98.6    280.0 ms  start_thread          "
		"    pthread_create.c:356  libc.so.6\n");
}

static void with_a_module_callers_keep_their_totals_of_it(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .module = "libc", .max_rows = 4 },
		    "Percentages are of 2.710 s: code of libc.so.6, which is 53.3 % of the "
		    "5.080 s recorded.\n"
		    "\n"
		    "self %     ±  self time  total %     ±  total time  function           "
		    "file:line         module\n"
		    "  70.1  ±1.8    1.900 s     70.1  ±1.8     1.900 s  write              "
		    "write.c:24        libc.so.6\n"
		    "  19.6  ±1.6    0.530 s     19.6  ±1.6     0.530 s  _int_malloc        "
		    "malloc.c:3795     libc.so.6\n"
		    "  10.3  ±1.3    0.280 s     10.3  ±1.3     0.280 s  cfree              "
		    "malloc.c:3350     libc.so.6\n"
		    "   0.0          0.000 s     89.7  ±1.3     2.430 s  __libc_start_main  "
		    "libc-start.c:242  libc.so.6\n"
		    "… 13 more functions, 0.0 % together (-n 0 shows all)\n");
}

static void a_narrow_terminal_has_fewer_columns_and_cut_names(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .width = 70,
					      .max_rows = 12,
					      .sort = REPORT_SORT_TOTAL },
		    "self %  self time  total %  function                 file:line\n"
		    "   1.8    0.090 s     92.1  aeProcessEvents          ae.c:340\n"
		    "   0.0    0.000 s     92.1  __libc_start_main        libc-start.c:242\n"
		    "   0.0    0.000 s     92.1  _start                   -\n"
		    "   0.0    0.000 s     92.1  aeMain                   ae.c:490\n"
		    "   0.0    0.000 s     92.1  main                     server.c:6800\n"
		    "   0.0    0.000 s     53.0  call                     server.c:3380\n"
		    "   0.0    0.000 s     53.0  processCommand           server.c:3690\n"
		    "   0.0    0.000 s     53.0  readQueryFromClient      networking.c:2590\n"
		    "  29.9    1.520 s     42.5  dictFind                 dict.c:500\n"
		    "  37.4    1.900 s     37.4  write                    write.c:24\n"
		    "   0.0    0.000 s     37.4  handleClien…ndingWrites  networking.c:1960\n"
		    "   0.0    0.000 s     16.5  setCommand               t_string.c:280\n"
		    "… 10 more functions, 30.9 % together (-n 0 shows all)\n");
}

static void colours_show_what_is_hot(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){
			.has_color = true, .max_rows = 7, .by = GROUP_BY_MODULE },
		"\033[1mself %\033[0m     \033[1m±\033[0m  \033[1mself time\033[0m  "
		"\033[1mtotal %\033[0m     \033[1m±\033[0m  \033[1mtotal time\033[0m  "
		"\033[1mmodule\033[0m\n"
		"  \033[1;31m53.3\033[0m  \033[2m±1.4\033[0m    2.710 s     "
		"\033[1;31m97.6\033[0m  \033[2m±0.1\033[0m     4.960 s  "
		"/lib/x86_64-linux-gnu/libc.so.6\n"
		"  \033[1;31m44.3\033[0m  \033[2m±1.4\033[0m    2.250 s     "
		"\033[1;31m97.6\033[0m  \033[2m±0.1\033[0m     4.960 s  /usr/bin/redis-server\n"
		"   \033[33m2.0\033[0m          0.100 s      \033[33m2.0\033[0m           "
		"0.100 s  [not entered: busybox]\n"
		"   0.4          0.018 s      0.4           0.018 s  [start-up]\n"
		"   \033[2m0.0\033[0m          0.002 s      \033[2m0.0\033[0m           0.002 "
		"s  [exit]\n");
}

static void min_leaves_out_rows_below_it(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .has_min_percent = true, .min_percent = 20 },
		    "self %     ±  self time  total %     ±  total time  function  file:line   "
		    "module\n"
		    "  37.4  ±1.4    1.900 s     37.4  ±1.4     1.900 s  write     write.c:24  "
		    "libc.so.6\n"
		    "  29.9  ±1.3    1.520 s     42.5  ±1.4     2.160 s  dictFind  dict.c:500  "
		    "redis-server\n"
		    "… 20 more functions, 32.7 % together (--min 0 -n 0 shows all)\n");
}

static void min_goes_by_total_when_sorted_by_total(void **state)
{
	(void)state;
	assert_body(
		&(struct report_options){ .sort = REPORT_SORT_TOTAL,
					  .by = GROUP_BY_MODULE,
					  .has_min_percent = true,
					  .min_percent = 50 },
		"self %     ±  self time  total %     ±  total time  module\n"
		"  53.3  ±1.4    2.710 s     97.6  ±0.1     4.960 s  "
		"/lib/x86_64-linux-gnu/libc.so.6\n"
		"  44.3  ±1.4    2.250 s     97.6  ±0.1     4.960 s  /usr/bin/redis-server\n"
		"… 3 more modules, 2.4 % together (--min 0 -n 0 shows all)\n");
}

static void all_rows_are_shown_when_asked(void **state)
{
	struct made made;
	struct text text = { 0 };
	const struct report_options options = { .max_rows = REPORT_ALL_ROWS };

	(void)state;
	made_init(&made);
	for (int i = 0; i < 100; i++) {
		char name[] = { 'f', (char)('0' + i / 10), (char)('0' + i % 10), '\0' };
		made_add(&made, name, 1000, 1);
	}
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	assert_non_null(strstr(text_string(&text), "  f99 "));
	assert_null(strstr(text_string(&text), "more function"));
	text_clear(&text);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_non_null(
		strstr(text_string(&text), "… 70 more functions, 70.0 % together (-n 0"));
	text_done(&text);
	made_done(&made);
}

/* A command line is no function: what looks like parameters is cut from its middle like the rest. */
static void a_narrow_terminal_keeps_the_program_of_a_command_line(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_begin_process(&made, 200, "sqlite3 :memory: with recursive c(x) as (select 1)");
	made_begin_thread(&made, 200, "sqlite3");
	made_add(&made, "main", 1000000000, 1000);
	assert_int_equal(
		report_text(made.profile,
			    &(struct report_options){ .by = GROUP_BY_PROCESS, .width = 60 },
			    &text, NULL),
		0);
	assert_non_null(strstr(text_string(&text), "  sqlite3 …select 1)"));
	text_done(&text);
	made_done(&made);
}

static void assert_no_samples_report(const struct report_options *options, const char *why)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	example_init(&made);
	assert_int_equal(report_text(made.profile, options, &text, &err), -EINVAL);
	assert_string_equal(err.text, why);
	assert_int_equal(text.len, 0);
	made_done(&made);
}

static void samples_cannot_be_sorted_by_calls(void **state)
{
	(void)state;
	assert_no_samples_report(&(struct report_options){ .sort = REPORT_SORT_CALLS },
				 "samples show times, not how often a function was called: "
				 "'fathom trace' counts that");
}

static void samples_have_no_shortest_and_longest_calls(void **state)
{
	(void)state;
	assert_no_samples_report(&(struct report_options){ .has_extremes = true },
				 "samples show times, not how long each call took: "
				 "'fathom trace' measures that");
}

static void an_unknown_thread_is_refused_and_nothing_is_written(void **state)
{
	struct made made;
	struct text text = { 0 };
	struct error err;

	(void)state;
	example_init(&made);
	assert_true(report_text(made.profile, &(struct report_options){ .thread = "none" },
				&text, &err) < 0);
	assert_int_equal(text.len, 0);
	assert_non_null(strstr(err.text, "no thread has the name or the tid \"none\""));
	made_done(&made);
}

static void assert_python(const struct report_options *options, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	example_init_python(&made, "/srv/app/worker.py");
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	assert_string_equal(example_body_of(text_string(&text)), expected);
	text_done(&text);
	made_done(&made);
}

static void functions_of_one_name_are_distinguished_by_their_places(void **state)
{
	(void)state;
	assert_python(&(struct report_options){ 0 },
		      "self %     ±  self time  total %     ±  total time  function    "
		      "file:line           module\n"
		      "  60.0  ±9.8    60.0 ms     60.0  ±9.8     60.0 ms  __sin_fma   -       "
		      "            libm.so.6\n"
		      "  31.0  ±9.7    31.0 ms     91.0  ±7.3     91.0 ms  Worker.run  "
		      "worker.py:3         Python\n"
		      "   9.0  ±7.3     9.0 ms      9.0  ±7.3      9.0 ms  <module>    "
		      "jobs/__init__.py:1  Python\n"
		      "   0.0           0.0 ms     91.0  ±7.3     91.0 ms  <module>    "
		      "app/__init__.py:1   Python\n"
		      "   0.0           0.0 ms     60.0  ±9.8     60.0 ms  math.sin    -       "
		      "            Python\n");
}

static void a_place_is_as_long_as_it_takes(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add(&made, "%run@/a/x/job.py:1", 4, 1);
	made_add(&made, "%run@/b/x/job.py:1", 3, 1);
	made_add(&made, "%run@/b/x/job.py:2", 2, 1);
	made_add(&made, "%stop@/b/x/job.py:1", 1, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_non_null(strstr(text_string(&text), " run       a/x/job.py:1 "));
	assert_non_null(strstr(text_string(&text), " run       b/x/job.py:1 "));
	assert_non_null(strstr(text_string(&text), " run       job.py:2 "));
	assert_non_null(strstr(text_string(&text), " stop      job.py:1 "));
	text_done(&text);
	made_done(&made);
}

static void names_of_ruby_with_a_path_in_them_are_as_short(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add(&made, "^one@<internal:/usr/lib/ruby/require.rb>:3", 4, 1);
	made_add(&made, "^two@(eval at /srv/app/job.rb:7):1", 3, 1);
	made_add(&made, "^three@<internal:kernel>:9", 2, 1);
	made_add(&made, "^four@-e:1", 1, 1);
	made_add(&made, "^Array#each", 1, 1);
	assert_int_equal(report_text(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_non_null(
		strstr(text_string(&text), " one         <internal:require.rb>:3  Ruby\n"));
	assert_non_null(
		strstr(text_string(&text), " two         (eval at job.rb:7):1     Ruby\n"));
	assert_non_null(
		strstr(text_string(&text), " three       <internal:kernel>:9      Ruby\n"));
	assert_non_null(
		strstr(text_string(&text), " four        -e:1                     Ruby\n"));
	assert_non_null(
		strstr(text_string(&text), " Array#each  -                        Ruby\n"));
	text_done(&text);
	made_done(&made);
}

static void pythons_modules_are_its_files(void **state)
{
	(void)state;
	assert_python(
		&(struct report_options){ .by = GROUP_BY_MODULE },
		"self %     ±  self time  total %     ±  total time  module\n"
		"  60.0  ±9.8    60.0 ms     60.0  ±9.8     60.0 ms  /lib/libm.so.6\n"
		"  31.0  ±9.7    31.0 ms     91.0  ±7.3     91.0 ms  /srv/app/worker.py\n"
		"   9.0  ±7.3     9.0 ms      9.0  ±7.3      9.0 ms  /srv/jobs/__init__.py\n"
		"   0.0           0.0 ms     91.0  ±7.3     91.0 ms  /srv/app/__init__.py\n"
		"   0.0           0.0 ms     60.0  ±9.8     60.0 ms  [Python's built-in "
		"functions]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one_name_are_distinguished_by_their_places),
		cmocka_unit_test(a_place_is_as_long_as_it_takes),
		cmocka_unit_test(names_of_ruby_with_a_path_in_them_are_as_short),
		cmocka_unit_test(pythons_modules_are_its_files),
		cmocka_unit_test(by_function_sorted_by_self),
		cmocka_unit_test(sorted_by_total_says_how_many_rows_are_left_out),
		cmocka_unit_test(a_line_is_the_one_that_was_run),
		cmocka_unit_test(modules_stand_with_their_whole_path),
		cmocka_unit_test(threads_stand_with_what_the_kernel_charged),
		cmocka_unit_test(processes_stand_with_why_they_were_not_entered),
		cmocka_unit_test(programs_stand_with_how_many_were_entered),
		cmocka_unit_test(with_a_thread_percentages_are_of_its_time),
		cmocka_unit_test(with_a_module_callers_keep_their_totals_of_it),
		cmocka_unit_test(a_narrow_terminal_has_fewer_columns_and_cut_names),
		cmocka_unit_test(colours_show_what_is_hot),
		cmocka_unit_test(min_leaves_out_rows_below_it),
		cmocka_unit_test(min_goes_by_total_when_sorted_by_total),
		cmocka_unit_test(all_rows_are_shown_when_asked),
		cmocka_unit_test(a_narrow_terminal_keeps_the_program_of_a_command_line),
		cmocka_unit_test(samples_cannot_be_sorted_by_calls),
		cmocka_unit_test(samples_have_no_shortest_and_longest_calls),
		cmocka_unit_test(an_unknown_thread_is_refused_and_nothing_is_written),
	};

	/* Columns of a name are counted in UTF-8, as on a person's terminal. */
	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
