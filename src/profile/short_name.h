/*
 * short_name - shortens function names, above all of C++ and Rust, to fit a number of columns.
 *
 *	std::_Hashtable<int, std::pair<int const, int>, …>::_M_find_node(unsigned long, int const&)
 *	std::_Hashtable<…>::_M_find_node(…)
 *
 * The least informative parts go first: parameters, then the return type, then template
 * arguments, then all scopes but the innermost, then that.  Names of Python, Ruby and Go lose
 * their prefixes: enclosing functions, modules, a path.  System calls with their objects stay as
 * they are.
 */
#pragma once
#include <stddef.h>

struct text;

/*
 * Adds the name, shortened to at most so many terminal columns if possible, else as short as it
 * gets.
 */
void short_name_add(struct text *out, const char *name, size_t columns);
/* Always without parameters, template arguments and return type. */
void short_name_add_plain(struct text *out, const char *name);
