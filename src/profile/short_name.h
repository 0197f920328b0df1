/*
 * short_name - names of functions, above all of C++ and Rust, in as many columns as there are.
 *
 *	std::_Hashtable<int, std::pair<int const, int>, …>::_M_find_node(unsigned long, int const&)
 *	std::_Hashtable<…>::_M_find_node(…)
 *
 * What says least about a function goes first: its parameters, then the type that it returns,
 * then template arguments, then the scopes around it but the innermost, then that.  Of Python's, Ruby's
 * and Go's names it is what they write before a name: functions around it, modules, a path.  System
 * calls with what they are on stay as they are.
 */
#pragma once
#include <stddef.h>

struct text;

/*
 * Adds the name in at most so many terminal columns if leaving out any of that is enough; as short
 * as that makes it if not.
 */
void short_name_add(struct text *out, const char *name, size_t columns);
/* Without parameters, template arguments and the type that it returns, however short it is. */
void short_name_add_plain(struct text *out, const char *name);
