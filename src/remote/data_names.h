/*
 * data_names - what a program calls the variables that its threads wait for, by their addresses.
 */
#pragma once
#include <stdint.h>

struct data_names;
struct remote;

/*
 * "stats_lock", of an array "locks+0x28": by the symbols of the file that is mapped there, which are
 * read once, mangled names as they are.  NULL: it has none there, or lies on the heap.  Lives as long
 * as the remote.
 */
const char *data_names_find(struct remote *remote, uint64_t address);
void data_names_done(struct data_names *names);
