/*
 * short_name - names of C++ and Rust functions in as many columns as there are.
 *
 *	std::_Hashtable<int, std::pair<int const, int>, …>::_M_find_node(unsigned long, int const&)
 *	std::_Hashtable<…>::_M_find_node(…)
 *
 * What says least about a function goes first: its parameters, then template arguments, then the
 * type that it returns, then the scopes around it.  Names of other languages have none of these, and
 * stay as they are, as do system calls with what they are on.
 */
#pragma once
#include <stddef.h>

struct text;

/*
 * Adds the name in at most so many terminal columns if leaving out any of that is enough; as short
 * as that makes it if not.
 */
void short_name_add(struct text *out, const char *name, size_t columns);
