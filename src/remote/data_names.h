/* data_names - names the variables (mutexes and the like) that threads wait for, by address. */
#pragma once
#include <stdint.h>

struct data_names;
struct remote;

/*
 * "stats_lock", or "locks+0x28" within an array: from the symbols of the file mapped there,
 * which are read once; mangled names stay mangled. NULL: no symbol covers the address, as on
 * the heap. Lives as long as the remote.
 */
const char *data_names_find(struct remote *remote, uint64_t address);
void data_names_done(struct data_names *names);
