#include "cmocka_all.h"

#include <locale.h>

#include "base/text.h"
#include "profile/short_name.h"

static void assert_short(const char *name, size_t columns, const char *expected)
{
	struct text text = { 0 };

	short_name_add(&text, name, columns);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
}

#define FIND "std::_Hashtable<int, std::pair<int const, int>>::_M_find_node(unsigned long, int)"

static void what_says_least_goes_first(void **state)
{
	(void)state;
	assert_short(FIND, 100, FIND);
	assert_short(FIND, 70,
		     "std::_Hashtable<int, std::pair<int const, int>>::_M_find_node(…)");
	assert_short(FIND, 40, "std::_Hashtable<…>::_M_find_node(…)");
	assert_short(FIND, 34, "…::_Hashtable<…>::_M_find_node(…)");
	assert_short(FIND, 32, "…::_M_find_node(…)");
	assert_short(FIND, 10, "…::_M_find_node(…)");
}

static void types_of_template_functions_go_before_scopes(void **state)
{
	(void)state;
	assert_short("std::vector<int> ns::make<int, char>(unsigned long)", 20,
		     "ns::make<…>(…)");
	assert_short("void ns::run<int>(int) const", 19, "ns::run<…>(…) const");
}

static void operators_are_no_brackets(void **state)
{
	(void)state;
	assert_short(
		"std::basic_string<char, int> std::operator+<char, int>(char const*, int&&)",
		26, "std::operator+<…>(…)");
	assert_short("bool std::operator< <char, int>(std::pair<char, int> const&, int)", 24,
		     "std::operator< <…>(…)");
	assert_short("ns::A::operator+(ns::A const&, ns::A const&) const", 30,
		     "ns::A::operator+(…) const");
	assert_short("ns::A<int, long>::operator<<(std::basic_string<char> const&)", 30,
		     "ns::A<…>::operator<<(…)");
	assert_short("ns::A::operator()(std::basic_string<char> const&) const", 30,
		     "ns::A::operator()(…) const");
	assert_short("ns::A::operator->(int, int, int, int, int, int)", 25,
		     "ns::A::operator->(…)");
}

static void what_a_call_is_on_stays(void **state)
{
	(void)state;
	assert_short("futex(Executor.map at /srv/app.py:12)", 12,
		     "futex(Executor.map at /srv/app.py:12)");
	assert_short("futex(condition in os::PlatformEvent::park)", 12,
		     "futex(condition in os::PlatformEvent::park)");
	assert_short("read(/var/lib/x.db)", 6, "read(/var/lib/x.db)");
	assert_short("recvfrom(127.0.0.1:5432)", 10, "recvfrom(127.0.0.1:5432)");
	/* A function that is called like a system call. */
	assert_short("write(int, char const*)", 10, "write(…)");
}

static void lambdas_and_unnamed_namespaces_keep_their_names(void **state)
{
	(void)state;
	assert_short("(anonymous namespace)::parse(char const*, unsigned long)", 35,
		     "(anonymous namespace)::parse(…)");
	assert_short("main::{lambda(int, std::string)#1}::operator()(int, std::string) const",
		     52, "main::{lambda(…)#1}::operator()(…) const");
}

static void rust_keeps_what_implements(void **state)
{
	(void)state;
	assert_short("<alloc::vec::Vec<T, A> as core::iter::Extend<T>>::extend", 54,
		     "<alloc::vec::Vec<…> as core::iter::Extend<…>>::extend");
	assert_short("<alloc::vec::Vec<T, A> as core::iter::Extend<T>>::extend", 40,
		     "<Vec<…> as Extend<…>>::extend");
	assert_short("<alloc::vec::Vec<T, A> as core::iter::Extend<T>>::extend", 20,
		     "…::extend");
	assert_short("core::slice::sort::merge_sort::<u64, fn(&u64) -> bool>", 45,
		     "core::slice::sort::merge_sort::<…>");
}

static void python_ruby_and_go_lose_what_is_around_a_name(void **state)
{
	(void)state;
	assert_short("given.<locals>.run.<locals>.wrapped_test", 30, "…wrapped_test");
	assert_short("clean.<locals>.<lambda>", 20, "clean.…<lambda>");
	assert_short("make.<locals>.clean.<locals>.<lambda>", 20, "…clean.…<lambda>");
	assert_short("RDoc::Markup::AttributeManager#split", 32, "…::AttributeManager#split");
	assert_short("block (2 levels) in RDoc::Markup::Manager#split", 45,
		     "block (2 levels) in …::Markup::Manager#split");
	assert_short("block in RDoc::Markup::AttributeManager#split", 38,
		     "block in …::AttributeManager#split");
	assert_short("_json.cpython-311-x86_64-linux-gnu.so+0x4e20", 30, "_json.…so+0x4e20");
	assert_short("github.com/me/app/store.(*DB).Get", 30, "…/store.(*DB).Get");
	assert_short("encoding/json.Marshal[go.shape.int]", 30, "…/json.Marshal[go.shape.int]");
}

static void other_names_stay_as_they_are(void **state)
{
	static const char *const names[] = {
		"Session.method",
		"operator/",
		"block (2 levels) in <top (required)>",
		"<module>",
		"a_long_function_of_c_without_any_brackets",
		"[garbage collection: marking]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_short(names[i], 4, names[i]);
}

static void brackets_that_do_not_close_are_left(void **state)
{
	(void)state;
	assert_short("broken<int, (std::map<int, int", 5, "broken<int, (std::map<int, int");
	assert_short("a<<<<<<<<(", 2, "a<<<<<<<<(");
	assert_short(":::::::", 2, "…:::");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_says_least_goes_first),
		cmocka_unit_test(types_of_template_functions_go_before_scopes),
		cmocka_unit_test(operators_are_no_brackets),
		cmocka_unit_test(lambdas_and_unnamed_namespaces_keep_their_names),
		cmocka_unit_test(rust_keeps_what_implements),
		cmocka_unit_test(python_ruby_and_go_lose_what_is_around_a_name),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(brackets_that_do_not_close_are_left),
		cmocka_unit_test(what_a_call_is_on_stays),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
